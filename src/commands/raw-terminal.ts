// A terminal that gives each key as it is pressed. However this process ends, the terminal is left as it was found; only
// SIGKILL leaves it raw.

import type { ReadStream } from 'node:tty';
import type { Part } from '../daemon/open-parts.ts';

export interface RawTerminalOptions {
  /** What was typed, all that came at once. */
  readonly onKeys: (typed: string) => void;
  readonly onGone: () => void;
}

const ENDING = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

export class RawTerminal implements Part {
  readonly #stdin: ReadStream;
  readonly #options: RawTerminalOptions;

  constructor(stdin: ReadStream, options: RawTerminalOptions) {
    this.#stdin = stdin;
    this.#options = options;
    for (const signal of ENDING) process.on(signal, this.#onSignal);
    process.on('exit', this.#restore);
    // A terminal that is gone gives an error, or its end.
    stdin.on('error', options.onGone).on('end', options.onGone).on('data', this.#onData);
    stdin.setRawMode(true);
  }

  close(): void {
    const { onGone } = this.#options;
    this.#restore();
    this.#stdin.off('data', this.#onData).off('end', onGone).pause();
    process.off('exit', this.#restore);
    for (const signal of ENDING) process.off(signal, this.#onSignal);
  }

  readonly #onData = (chunk: Buffer): void => this.#options.onKeys(chunk.toString());

  readonly #restore = (): void => {
    this.#stdin.setRawMode(false);
  };

  /** Ends as without us, but with the terminal as it was. */
  readonly #onSignal = (signal: NodeJS.Signals): void => {
    this.close();
    process.kill(process.pid, signal);
  };
}
