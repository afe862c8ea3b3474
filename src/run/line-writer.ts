import type { ByteSink } from './bytes.ts';

/** Own lines that may wait to be read; beyond, whoever causes them is not read from. */
const MAX_OWN_BYTES = 1024 * 1024;

/** A line of our own without its line end, as text or in pieces. */
type OwnLine = string | readonly Uint8Array[];

const LINE_END = Buffer.from('\n');

/** Bytes that pass through, and lines of our own between them: only ever at a line end of that direction. */
export class LineWriter {
  #sink: ByteSink | null = null;
  #isMidLine = false;
  /** The rest of a line whose beginning went to a former sink. */
  #isSkipping = false;
  #own: OwnLine[] = [];
  #ownBytes = 0;
  readonly #whenFree = new Set<() => void>();

  constructor(sink: ByteSink | null = null) {
    if (sink !== null) this.redirect(sink);
  }

  /** From now on writes there. A line that has begun is not continued: its end is thrown away. */
  redirect(sink: ByteSink | null): void {
    if (this.#sink !== null) this.#sink.onFree = null;
    this.#sink = sink;
    this.#isSkipping = this.#isMidLine;
    this.#own = [];
    this.#ownBytes = 0;
    if (sink !== null) sink.onFree = () => this.#freed();
    this.#freed();
  }

  /** Passes bytes on; `endsLine`: their last byte is a line end. */
  pass(bytes: Uint8Array, endsLine: boolean): void {
    if (bytes.length === 0) return;
    this.#isMidLine = !endsLine;
    if (!this.#isSkipping) this.#sink?.write(bytes);
    if (!endsLine) return;
    this.#isSkipping = false;
    for (const line of this.#own.splice(0)) this.#write(line);
  }

  /** Writes a line of our own as soon as a line ends. */
  insert(line: OwnLine): void {
    if (this.#sink === null) return;
    this.#ownBytes += lengthOf(line);
    if (this.#isMidLine && !this.#isSkipping) this.#own.push(line);
    else this.#write(line);
  }

  /** Ends a line whose source is gone. */
  breakLine(): void {
    if (this.#isMidLine) this.pass(Buffer.from('\n'), true);
  }

  /** May more be passed? */
  get free(): boolean {
    return this.#sink === null || this.#sink.free;
  }

  /** May more be read from the side whose requests we answer here? */
  get hasRoom(): boolean {
    return this.#ownBytes < MAX_OWN_BYTES;
  }

  /** Calls back whenever `free` or `hasRoom` may have changed, until the returned function is called. */
  onFree(callback: () => void): () => void {
    this.#whenFree.add(callback);
    return () => this.#whenFree.delete(callback);
  }

  /** Resolves when all is written and the end is told, or nobody reads any more. */
  async end(): Promise<void> {
    await this.#sink?.end();
  }

  #write(line: OwnLine): void {
    const sink = this.#sink;
    const written = (): void => {
      if (this.#sink === sink) this.#ownBytes -= lengthOf(line);
    };
    if (typeof line === 'string') {
      sink?.write(Buffer.from(`${line}\n`), written);
      return;
    }
    for (const piece of line) sink?.write(piece);
    sink?.write(LINE_END, written);
  }

  #freed(): void {
    for (const callback of this.#whenFree) callback();
  }
}

function lengthOf(line: OwnLine): number {
  return typeof line === 'string' ? line.length : line.reduce((sum, { length }) => sum + length, 0);
}
