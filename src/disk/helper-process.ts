import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { extname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { LineReader } from '../core/line-reader.ts';
import { READY } from './helper-ready.ts';

export interface HelperProcessOptions {
  /** It has started: what is asked is looked at from now on. */
  readonly onReady: () => void;
  readonly onLine: (line: string) => void;
  /** It has ended, or could not be started. Once. */
  readonly onEnd: () => void;
  /** Of the module that it runs; tests have others. */
  readonly script?: string;
}

/** An answer of thousands of names has a few MiB. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** The built file lies beside ours as the source does; source needs the loader that we were started with, and its place. */
const EXTENSION = extname(import.meta.filename);
const [LOADER, DIRECTORY] = EXTENSION === '.ts' ? [process.execArgv, process.cwd()] : [[], '/'];
const SCRIPT = join(import.meta.dirname, `slow-places-helper${EXTENSION}`);

/** A child process that answers lines with lines. It keeps no process alive and ends with us. */
export class HelperProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  #hasEnded = false;

  constructor({ onReady, onLine, onEnd, script = SCRIPT }: HelperProcessOptions) {
    this.#child = spawn(process.execPath, [...LOADER, script], {
      cwd: DIRECTORY,
      // What it inherits nothing of cannot mislead it.
      env: {},
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const end = () => {
      if (this.#hasEnded) return;
      this.#hasEnded = true;
      onEnd();
    };
    this.#child.on('exit', end).on('error', end);
    this.#child.stdin.on('error', () => {});
    this.#child.stdout.on('error', () => {});
    this.#read(onReady, onLine);
    this.#child.unref();
    for (const stream of [this.#child.stdin, this.#child.stdout]) unref(stream);
  }

  /** node:readline would do, but takes its time to load, and takes U+2028 in a name for a line's end. */
  #read(onReady: () => void, onLine: (line: string) => void): void {
    const lines = new LineReader(MAX_LINE_BYTES);
    let isFirst = true;
    this.#child.stdout.on('data', (chunk: Buffer) => {
      lines.push(chunk);
      for (let line = lines.next(); line !== null; line = lines.next()) {
        if (line === 'too-large') return this.kill();
        const text = line.toString('utf8');
        if (isFirst && text === READY) onReady();
        else onLine(text);
        isFirst = false;
      }
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  ask(line: string): void {
    this.#child.stdin.write(`${line}\n`);
  }

  /** A call into the kernel that cannot be interrupted outlives this. */
  kill(): void {
    this.#child.kill('SIGKILL');
    this.#child.stdout.destroy();
    this.#child.stdin.destroy();
  }
}

/** The type declarations do not say that the pipes of a child are sockets. */
function unref(stream: object): void {
  if ('unref' in stream && typeof stream.unref === 'function') stream.unref();
}
