// `rootsd run` as a process, and a host of a few lines in front of it.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const SUPPORT = fileURLToPath(new URL('.', import.meta.url));
export const OBEDIENT_SERVER = join(SUPPORT, 'obedient-server.mjs');
export const ASKING_SERVER = join(SUPPORT, 'asking-server.mjs');

/** Bundles `run` as the build does, once for the tests of a file. Returns the path, to be asked within a test. */
export function useRun(): () => string {
  const built = { directory: '' };
  before(() => {
    built.directory = mkdtempSync(join(tmpdir(), 'rootsd-run-'));
    const entryPoints = [join(SUPPORT, 'run-main.ts')];
    const outfile = join(built.directory, 'run.mjs');
    buildSync({
      entryPoints,
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20.19',
      // The editors of settings, which are packages for Node: the build leaves them outside.
      mainFields: ['module', 'main'],
      banner: { js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);" },
    });
  });
  after(() => rmSync(built.directory, { recursive: true, force: true }));
  return () => join(built.directory, 'run.mjs');
}

export type Json = Readonly<Record<string, unknown>>;

export interface RunEnd {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface HostOptions {
  /** useRun()() */
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly uid?: number;
}

/** A host: writes lines, keeps the lines that come. The process is killed after the test if it still lives. */
export class RunHost {
  readonly process: ChildProcess;
  readonly ended: Promise<RunEnd>;
  readonly #received: Buffer[] = [];
  readonly #messages: Json[] = [];
  #stderr = '';
  #seen = 0;
  #wake: (() => void)[] = [];
  #nextId = 1000;

  constructor(t: Pick<TestContext, 'after'>, { program, args, ...options }: HostOptions) {
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...options.env };
    this.process = spawn(process.execPath, [program, ...args], { ...options, env, stdio: 'pipe' });
    this.ended = new Promise((resolve) => this.process.on('close', (status, signal) => resolve({ status, signal })));
    this.process.stdin?.on('error', () => undefined);
    this.process.stdout?.on('data', (chunk: Buffer) => {
      this.#received.push(chunk);
    });
    const stdout = this.process.stdout;
    if (stdout)
      createInterface({ input: stdout, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => this.#take(line));
    this.process.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr += chunk;
      this.#changed();
    });
    this.process.on('close', () => this.#changed());
    t.after(() => this.process.kill('SIGKILL'));
  }

  get output(): Buffer {
    return Buffer.concat(this.#received);
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** All messages that have come. */
  get messages(): readonly Json[] {
    return this.#messages;
  }

  write(bytes: string | Buffer): void {
    this.process.stdin?.write(bytes);
  }

  send(message: Json): void {
    this.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  /** Waits for a message that has not been waited for. */
  async next(matches: (message: Json) => boolean): Promise<Json> {
    for (;;) {
      const message = this.messages.slice(this.#seen).find(matches);
      if (message !== undefined) return message;
      await this.#change('a message');
    }
  }

  /** From now on next() looks only at what comes. */
  skip(): void {
    this.#seen = this.messages.length;
  }

  /** Waits until standard error holds the text. */
  async said(text: string | RegExp): Promise<void> {
    while (!(typeof text === 'string' ? this.#stderr.includes(text) : text.test(this.#stderr)))
      await this.#change(`"${text}"`);
  }

  async request(method: string, params?: Json): Promise<Json> {
    const id = this.#nextId++;
    this.send({ id, method, ...(params === undefined ? {} : { params }) });
    return this.next((message) => message.id === id && message.method === undefined);
  }

  /** The result of a request to the obedient server. */
  async ask(method: string, params: Json = {}): Promise<unknown> {
    return (await this.request(method, params)).result;
  }

  /** The handshake; `capabilities` of the host. */
  async initialize(capabilities: Json = {}): Promise<Json> {
    const params = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'host', version: '1' } };
    const answer = await this.request('initialize', params);
    this.send({ method: 'notifications/initialized' });
    return answer;
  }

  /** A line that a server began and did not end is no message. */
  #take(line: string): void {
    try {
      this.#messages.push(JSON.parse(line) as Json);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
    this.#changed();
  }

  #change(what: string): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) {
      throw new Error(`run has ended while waiting for ${what}: ${this.#stderr}`);
    }
    return new Promise((resolve) => this.#wake.push(resolve));
  }

  #changed(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}
