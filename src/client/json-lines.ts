// Newline-delimited JSON as the daemon's clients read it. The daemon is trusted to be who it is (find-socket.ts), not to
// be free of faults: a line that never ends must not fill the memory.

const LINE_FEED = 0x0a;
/** A view of thousands of roots is a few MiB. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** Cuts bytes into lines and parses each; a character may be split over chunks. */
export class JsonLineReader {
  readonly #take: (message: unknown) => void;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(take: (message: unknown) => void) {
    this.#take = take;
  }

  /** Takes the next bytes. Throws a SyntaxError at a line that is not JSON, a RangeError at one without an end. */
  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      this.#finish(chunk.subarray(start, end));
      start = end + 1;
    }
    if (start === chunk.length) return;
    this.#parts.push(chunk.subarray(start));
    this.#bytes += chunk.length - start;
    if (this.#bytes > MAX_LINE_BYTES) throw new RangeError(`A line has more than ${MAX_LINE_BYTES} bytes`);
  }

  #finish(last: Buffer): void {
    const line = this.#parts.length === 0 ? last : Buffer.concat([...this.#parts, last]);
    this.#parts = [];
    this.#bytes = 0;
    const text = line.toString('utf8');
    if (text.trim() !== '') this.#take(JSON.parse(text));
  }
}
