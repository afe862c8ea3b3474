const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const EMPTY = Buffer.alloc(0);
const FIRST_CAPACITY = 4096;

/**
 * Cuts a stream of bytes into lines. Holds at most one chunk and `limit` bytes of an unfinished line, however small the
 * pieces are in which it comes: they are copied together, so that a byte costs a byte.
 */
export class LineReader {
  readonly #limit: number;
  #chunk: Buffer = EMPTY;
  #offset = 0;
  #partial: Buffer = EMPTY;
  #partialLength = 0;

  /** `limit` in bytes, the line's end not counted. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Is there a line whose end has not come? */
  get isInsideLine(): boolean {
    return this.#partialLength > 0 || this.#offset < this.#chunk.length;
  }

  /** Bytes of memory that wait for the end of a line, or to be taken. */
  get heldBytes(): number {
    return this.#partial.length + this.#chunk.length - this.#offset;
  }

  /** Forgets all that was given. */
  clear(): void {
    this.#chunk = EMPTY;
    this.#offset = 0;
    this.#partial = EMPTY;
    this.#partialLength = 0;
  }

  /** Gives the next bytes; the lines of the ones before have been taken. */
  push(chunk: Buffer): void {
    this.#chunk =
      this.#offset < this.#chunk.length ? Buffer.concat([this.#chunk.subarray(this.#offset), chunk]) : chunk;
    this.#offset = 0;
  }

  /**
   * The next whole line without its end (LF or CRLF), valid until the next push(); null if there is none yet;
   * `too-large` for a line over the limit, ended or not: nothing after it can be read.
   */
  next(): Buffer | null | 'too-large' {
    const end = this.#chunk.indexOf(LINE_FEED, this.#offset);
    const piece = this.#chunk.subarray(this.#offset, end === -1 ? undefined : end);
    // One more byte than the limit can be a carriage return.
    if (this.#partialLength + piece.length > this.#limit + 1) return 'too-large';
    this.#offset = end === -1 ? this.#chunk.length : end + 1;
    if (end === -1) {
      this.#keep(piece);
      this.#chunk = EMPTY;
      this.#offset = 0;
      return null;
    }
    const line = withoutReturn(this.#partialLength === 0 ? piece : this.#finish(piece));
    return line.length > this.#limit ? 'too-large' : line;
  }

  #finish(piece: Buffer): Buffer {
    this.#keep(piece);
    const line = this.#partial.subarray(0, this.#partialLength);
    this.#partial = EMPTY;
    this.#partialLength = 0;
    return line;
  }

  #keep(piece: Buffer): void {
    const length = this.#partialLength + piece.length;
    if (length > this.#partial.length) this.#grow(length);
    piece.copy(this.#partial, this.#partialLength);
    this.#partialLength = length;
  }

  #grow(length: number): void {
    const capacity = Math.min(Math.max(length, 2 * this.#partial.length, FIRST_CAPACITY), this.#limit + 1);
    const grown = Buffer.allocUnsafeSlow(capacity);
    this.#partial.copy(grown, 0, 0, this.#partialLength);
    this.#partial = grown;
  }
}

function withoutReturn(line: Buffer): Buffer {
  return line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
}
