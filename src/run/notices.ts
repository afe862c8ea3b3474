// What `run` itself says, on standard error, which it shares with the server. A pipe that nobody reads would block us, so
// there is little of it.

import { writeSync } from 'node:fs';
import { Writable } from 'node:stream';
import { escapeForTerminal } from '../core/display.ts';

/** Of what a server writes to its standard output and is no message; half of what a pipe takes without a reader. */
const MAX_NOISE_BYTES = 32_768;
/** A host can make us say as many different things as it has roots. */
const MAX_SENTENCES = 200;

export class Notices {
  readonly #write: (bytes: Uint8Array) => void;
  readonly #said = new Set<string>();
  #noiseBytes = 0;
  #noiseLines = 0;

  constructor(write: (bytes: Uint8Array) => void = writeStandardError) {
    this.#write = write;
  }

  /** Says a sentence, once however often it comes. */
  say(sentence: string): void {
    if (this.#said.has(sentence) || this.#said.size >= MAX_SENTENCES) return;
    this.#said.add(sentence);
    this.#write(Buffer.from(`rootsd: ${escapeForTerminal(sentence)}\n`));
  }

  /** At the end of the session: how much there was of what did not belong there. */
  sayNoise(): void {
    const lines =
      this.#noiseLines === 1 ? '1 line that is no message' : `${this.#noiseLines} lines that are no messages`;
    if (this.#noiseLines > 0) this.say(`The server wrote ${lines} to its standard output`);
  }

  /** Passes on a line that a server wrote where only messages belong. */
  noise(line: Uint8Array): void {
    this.#noiseLines += 1;
    this.#noiseBytes += line.length;
    if (this.#noiseBytes <= MAX_NOISE_BYTES) this.#write(line);
    else this.say('The server writes more such lines to its standard output: from here on they are only counted');
  }
}

/**
 * node:net looks at `process.stderr` whenever it closes a socket, and the first look makes the descriptor non-blocking:
 * for the server too, which has the same one and then loses what it writes. So nobody gets to look.
 */
export function keepStandardErrorBlocking(): void {
  const write = (chunk: Uint8Array, _encoding: string, done: () => void): void => {
    writeStandardError(chunk);
    done();
  };
  Object.defineProperty(process, 'stderr', { configurable: true, value: new Writable({ write }) });
}

function writeStandardError(bytes: Uint8Array): void {
  try {
    writeSync(2, bytes);
  } catch {
    // Nobody reads it, or not now: the session matters more.
  }
}
