import type { Socket } from 'node:net';

/** The start of a line, and the rest with its end: where that is long, bytes that many sessions share. */
export interface Notice {
  readonly own: string;
  readonly shared: string | Buffer;
}

export interface LineWriterOptions {
  readonly socket: Socket;
  /** Asked for one more line whenever the socket takes the next one; null if there is none. */
  readonly nextNotice: () => Notice | null;
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
  readonly #written = (error?: Error | null): void => {
    this.#isWriting = false;
    // The socket closes after a failed write; nothing more goes out.
    if (!error) this.#writeNext();
  };

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

  /** Forgets what waits. */
  clear(): void {
    this.#takeWaiting();
  }

  #write(text: string): void {
    this.#isWriting = true;
    this.#options.socket.write(text, this.#written);
  }

  #writeNext(): void {
    if (this.#hasEnded) return;
    const notice = this.#options.nextNotice();
    const text = this.#takeWaiting();
    if (notice !== null) this.#writeNotice(text + notice.own, notice.shared);
    else if (text !== '') this.#write(text);
    this.#options.onDrain();
  }

  #writeNotice(text: string, shared: string | Buffer): void {
    if (typeof shared === 'string') {
      this.#write(text + shared);
      return;
    }
    const { socket } = this.#options;
    this.#isWriting = true;
    socket.cork();
    socket.write(text);
    socket.write(shared, this.#written);
    socket.uncork();
  }

  #takeWaiting(): string {
    if (this.#waiting.length === 0) return '';
    const text = `${this.#waiting.join('\n')}\n`;
    this.#waiting = [];
    this.#waitingBytes = 0;
    return text;
  }
}
