// Newline-delimited JSON as the daemon's clients read it. The daemon is trusted to be who it is (find-socket.ts), not to
// be free of faults: a line that never ends must not fill the memory.

import { LineReader } from '../core/line-reader.ts';

/** A view of thousands of roots is a few MiB. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** Cuts bytes into lines and parses each; a character may be split over chunks. */
export class JsonLineReader {
  readonly #take: (message: unknown) => void;
  readonly #lines = new LineReader(MAX_LINE_BYTES);

  constructor(take: (message: unknown) => void) {
    this.#take = take;
  }

  /** Takes the next bytes. Throws a SyntaxError at a line that is not JSON, a RangeError at one without an end. */
  push(chunk: Buffer): void {
    this.#lines.push(chunk);
    for (let line = this.#lines.next(); line !== null; line = this.#lines.next()) {
      if (line === 'too-large') throw new RangeError(`A line has more than ${MAX_LINE_BYTES} bytes`);
      const text = line.toString('utf8');
      if (text.trim() !== '') this.#take(JSON.parse(text));
    }
  }
}
