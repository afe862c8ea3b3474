// What the server answers to questions for lists: its tools are remembered, and what names a place outside is taken out of
// resources and completions, so that nobody is shown what a call would be refused.

import { runAtOnce } from '../../core/steps.ts';
import { applyEdits, elementsOf, memberOf, objectAt, objectOf } from '../splice.ts';
import { LongWork } from './long-work.ts';

/** Requests whose answers are looked at. */
const WATCHED = ['tools/list', 'resources/list', 'completion/complete'] as const;
type Watched = (typeof WATCHED)[number];

export interface AnswersOptions {
  /** Takes the result of `tools/list`. */
  readonly learnTools: (result: unknown) => void;
  /** May the host be shown this text, a path or URI? */
  readonly mayShow: (text: string) => Generator<void, boolean>;
  /** What was not ready may be by now. */
  readonly onReady: () => void;
}

/** Those whose elements may be taken out. */
type Filtered = Exclude<Watched, 'tools/list'>;
/** What the host gets: the line in pieces, or null where it passes as it is. */
type Shown = readonly Uint8Array[] | null;

export class Answers {
  readonly #options: AnswersOptions;
  /** By the id (a JSON text) of the request. */
  readonly #open = new Map<string, Watched>();
  readonly #work: LongWork<Shown>;
  /** Found out for an answer that is judged next. */
  #ready: { readonly id: string; readonly shown: Shown } | null = null;

  constructor(options: AnswersOptions) {
    this.#options = options;
    this.#work = new LongWork(options.onReady);
  }

  /** A request passes to the server. */
  expect(method: string, id: string): void {
    const watched = WATCHED.find((one) => one === method);
    if (watched === undefined) this.#open.delete(id);
    else this.#open.set(id, watched);
  }

  /** Must an answer with this id (null: not known yet) be held whole? */
  concerns(id: string | null): boolean {
    return id === null ? this.#open.size > 0 : this.#open.has(id);
  }

  /** The process is gone, and answers nothing more. */
  forget(): void {
    this.#open.clear();
    this.judgeAnew();
  }

  close(): void {
    this.#work.close();
  }

  /** Another boundary holds. */
  judgeAnew(): void {
    this.#ready = null;
    this.#work.drop();
  }

  /** Can judge() answer at once? Else this is to be asked again, with the same line, after onReady(). */
  isReady(id: string | null, line: Buffer): boolean {
    const method = id === null ? undefined : this.#open.get(id);
    if (id === null || method === undefined || method === 'tools/list') return true;
    const shown = this.#work.do(line, () => this.#filter(method, line));
    if (shown === 'wait') return false;
    this.#ready = { id, shown };
    return true;
  }

  /** What the host gets of an answer. */
  judge(id: string, line: Buffer): Shown {
    const method = this.#open.get(id);
    if (method === undefined) return null;
    this.#open.delete(id);
    if (method === 'tools/list') {
      this.#options.learnTools(parse(line)?.result);
      return null;
    }
    const ready = this.#ready;
    this.#ready = null;
    this.#work.forgetTaken();
    return ready?.id === id ? ready.shown : runAtOnce(this.#filter(method, line));
  }

  #filter(method: Filtered, line: Buffer): Generator<void, Shown> {
    switch (method) {
      case 'resources/list':
        return withoutElements(line, ['result', 'resources'], (element) => {
          const { uri } = (parse(element) ?? {}) as { readonly uri?: unknown };
          return this.#mayStay(uri);
        });
      case 'completion/complete':
        return withoutElements(line, ['result', 'completion', 'values'], (element) => this.#mayStay(parse(element)));
    }
  }

  *#mayStay(value: unknown): Generator<void, boolean> {
    return typeof value !== 'string' || (yield* this.#options.mayShow(value));
  }
}

/** The line without the elements of an array that may not stay; null where all may, or there is no such array. */
function* withoutElements(
  line: Buffer,
  path: readonly string[],
  mayStay: (element: Buffer) => Generator<void, boolean>,
): Generator<void, Shown> {
  const last = path.at(-1) ?? '';
  const holder = path
    .slice(0, -1)
    .reduce((open, key) => (open === -1 ? -1 : objectOf(line, memberOf(line, open, key))), objectAt(line));
  const array = holder === -1 ? undefined : memberOf(line, holder, last);
  if (array === undefined || line[array.start] !== OPEN_ARRAY) return null;
  const elements = elementsOf(line, array.start);
  const kept: Buffer[] = [];
  for (const element of elements) {
    if (yield* mayStay(element)) kept.push(element);
    yield;
  }
  if (kept.length === elements.length) return null;
  const joined = kept.flatMap((element, i) => (i === 0 ? [element] : [COMMA, element]));
  return applyEdits(line, [{ ...array, bytes: Buffer.concat([Buffer.from('['), ...joined, Buffer.from(']')]) }]);
}

const OPEN_ARRAY = 0x5b;
const COMMA = Buffer.from(',');

/** undefined: no JSON. */
function parse(text: Buffer): { readonly result?: unknown } | undefined {
  try {
    return JSON.parse(text.toString('utf8')) as { readonly result?: unknown };
  } catch {
    return undefined;
  }
}
