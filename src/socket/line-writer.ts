import type { Socket } from 'node:net';

export interface LineWriterOptions {
  readonly socket: Socket;
  /** Asked for one more line, without its end, whenever the socket takes the next one; null if there is none. */
  readonly nextNotice: () => string | null;
  /** Called when nothing waits any more. */
  readonly onDrain: () => void;
}

/**
 * Writes lines one after the other and knows what waits. Lines that wait go out together; a notice is asked for only
 * when it can be written, so that it is the newest there is.
 */
export class LineWriter {
  readonly #options: LineWriterOptions;
  #waiting: string[] = [];
  #waitingBytes = 0;
  #isWriting = false;
  #hasEnded = false;

  constructor(options: LineWriterOptions) {
    this.#options = options;
  }

  /** Bytes behind the message that is being written. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** Sends a line, given without its end. */
  send(line: string): void {
    if (!this.#isWriting) {
      this.#write(`${line}\n`);
      return;
    }
    this.#waiting.push(line);
    this.#waitingBytes += Buffer.byteLength(line) + 1;
  }

  /** There is a notice: it goes out now, or when what is being written has gone out. */
  notify(): void {
    if (!this.#isWriting) this.#writeNext();
  }

  /** Hands all that waits to the socket and ends it. A notice that was not asked for yet is nobody's any more. */
  end(): void {
    this.#hasEnded = true;
    const rest = this.#takeWaiting();
    if (rest !== '') this.#options.socket.write(rest);
    this.#options.socket.end();
  }

  #write(text: string): void {
    this.#isWriting = true;
    this.#options.socket.write(text, (error) => {
      this.#isWriting = false;
      // The socket closes after a failed write; nothing more goes out.
      if (!error) this.#writeNext();
    });
  }

  #writeNext(): void {
    if (this.#hasEnded) return;
    const notice = this.#options.nextNotice();
    const text = this.#takeWaiting() + (notice === null ? '' : `${notice}\n`);
    if (text !== '') this.#write(text);
    this.#options.onDrain();
  }

  #takeWaiting(): string {
    if (this.#waiting.length === 0) return '';
    const text = `${this.#waiting.join('\n')}\n`;
    this.#waiting = [];
    this.#waitingBytes = 0;
    return text;
  }
}
