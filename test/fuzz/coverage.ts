// Which parts of src/ have run, as V8 counts them. Taking the counts costs milliseconds: inputs are tried in batches.
import { type Profiler, Session } from 'node:inspector';

/** Offsets in a file, from the first to before the second. */
type Range = readonly [number, number];

export class Coverage {
  readonly #session = new Session();
  /** What has never run, by function. V8 tells ranges apart only where their counts differ; what is 0 is always told. */
  #missing = new Map<string, readonly Range[]>();

  constructor() {
    this.#session.connect();
    this.#post('Profiler.enable');
    this.#post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** How many functions have run. */
  get functions(): number {
    return this.#missing.size;
  }

  /** Runs a batch; the inputs that reach something which none before them has reached. */
  news<T>(inputs: readonly T[], run: (input: T) => void): readonly T[] {
    this.#take();
    for (const input of inputs) run(input);
    const missing = this.#without(this.#take());
    if (missing === null) return [];
    if (inputs.length <= 1) {
      this.#missing = missing;
      return inputs;
    }
    const half = inputs.length >> 1;
    return [...this.news(inputs.slice(0, half), run), ...this.news(inputs.slice(half), run)];
  }

  close(): void {
    this.#session.disconnect();
  }

  /** What is missing after these functions have run as they did; null: as much as before. */
  #without(functions: ReadonlyMap<string, readonly Range[]>): Map<string, readonly Range[]> | null {
    const missing = new Map(this.#missing);
    for (const [name, idle] of functions) {
      const before = missing.get(name);
      missing.set(name, before === undefined ? idle : common(before, idle));
    }
    const isNew = [...functions.keys()].some((name) => {
      const before = this.#missing.get(name);
      return before === undefined || lengthOf(missing.get(name) ?? []) < lengthOf(before);
    });
    return isNew ? missing : null;
  }

  /** The functions that have run since the last time, each with what in it has not. */
  #take(): ReadonlyMap<string, readonly Range[]> {
    const { result } = this.#post<Profiler.TakePreciseCoverageReturnType>('Profiler.takePreciseCoverage');
    const functions = new Map<string, readonly Range[]>();
    for (const { url, functions: found } of result.filter((script) => script.url.includes('/src/'))) {
      for (const { ranges } of found) {
        const [whole] = ranges;
        if (whole === undefined || whole.count === 0) continue;
        const idle = ranges.filter(({ count }) => count === 0).map((one): Range => [one.startOffset, one.endOffset]);
        functions.set(`${url}:${whole.startOffset}:${whole.endOffset}`, idle);
      }
    }
    return functions;
  }

  /** Answered at once: the session is with this thread. */
  #post<T>(method: string, params: object = {}): T {
    let answer: T | undefined;
    let fault: Error | null = null;
    this.#session.post(method, params, (error, result) => {
      fault = error;
      answer = result as T;
    });
    if (fault !== null) throw fault;
    return answer as T;
  }
}

/** What is in both. */
function common(some: readonly Range[], others: readonly Range[]): readonly Range[] {
  return some.flatMap(([start, end]) =>
    others.map(([from, to]): Range => [Math.max(start, from), Math.min(end, to)]).filter(([from, to]) => from < to),
  );
}

function lengthOf(ranges: readonly Range[]): number {
  return ranges.reduce((sum, [start, end]) => sum + end - start, 0);
}
