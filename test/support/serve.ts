// A real daemon of the built program, in a home of its own.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runCli } from '../../src/commands/cli.ts';
import { connectPeer, type RawPeer } from '../socket/raw-peer.ts';
import { makeEntry, temporaryDirectory } from './tree.ts';

export const ROOTSD = fileURLToPath(new URL('../../bin/rootsd', import.meta.url));
assert.ok(existsSync(join(dirname(ROOTSD), '../dist/main.js')), 'run "npm run build" first');

/** Options of a test that writes a system layer. */
export const SYSTEM_LAYER = { skip: process.getuid?.() === 0 ? false : 'must be root: a system layer belongs to root' };

export interface Outcome {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

export interface StartOptions {
  readonly cwd?: string;
  /** Beside those of `env`; undefined takes one away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** A command line to start it by, for example `sh -c 'umask 0; exec "$0" "$@"'`. */
  readonly wrap?: readonly string[];
  /** `rootsd` of another place than this checkout. */
  readonly program?: string;
}

/** A home with policies of its own; nothing of the machine's is read. */
export class TestHome {
  readonly base: string;
  readonly home: string;
  /** `$ROOTSD_SOCKET` of all that is started here. */
  readonly socket: string;
  readonly config: string;
  readonly #t: Pick<TestContext, 'after'>;
  readonly #daemons: Served[] = [];

  constructor(t: Pick<TestContext, 'after'>, tree: readonly string[] = []) {
    this.#t = t;
    t.after(() => Promise.all(this.#daemons.map((daemon) => daemon.kill('SIGKILL'))));
    this.base = temporaryDirectory(t);
    this.home = join(this.base, 'home');
    this.socket = join(this.base, 'run/rootsd.sock');
    this.config = join(this.home, '.config/rootsd/rootsd.yaml');
    for (const line of tree) makeEntry(this.base, line);
    mkdirSync(this.home, { recursive: true, mode: 0o700 });
    this.configure();
  }

  /** Writes rootsd.yaml: the layers of this home, and more. */
  configure(more = ''): void {
    const layers = { system: this.directory('system'), user: this.directory('user') };
    this.put(this.config, `version: 1\nlayers: ${JSON.stringify(layers)}\n${more}`);
  }

  directory(layer: 'system' | 'user'): string {
    return layer === 'system' ? join(this.base, 'etc/policies.d') : join(this.home, '.config/rootsd/policies.d');
  }

  /** Writes a policy as careful editors do: beside it, then renamed. `version: 1` is added. */
  policy(content: string, layer: 'system' | 'user' = 'user', name = 'test.yaml'): string {
    const path = join(this.directory(layer), name);
    this.put(path, `version: 1\n${content}`);
    return path;
  }

  put(path: string, content: string): void {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(`${path}.new`, content, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  }

  remove(path: string): void {
    rmSync(path, { recursive: true, force: true });
  }

  get env(): Readonly<Record<string, string>> {
    return { PATH: process.env.PATH ?? '', HOME: this.home, ROOTSD_SOCKET: this.socket, NO_COLOR: '1' };
  }

  /** Starts the program. */
  start(args: readonly string[], options: StartOptions = {}): ChildProcess {
    const { cwd = this.base, env = {}, wrap = [], program = ROOTSD } = options;
    const [command = '', ...rest] = [...wrap, process.execPath, program, ...args];
    return spawn(command, rest, { cwd, env: { ...this.env, ...env }, stdio: 'pipe' });
  }

  /** Runs one command to its end. */
  run(...args: readonly string[]): Promise<Outcome> {
    return this.runWith({}, ...args);
  }

  runWith(options: StartOptions, ...args: readonly string[]): Promise<Outcome> {
    const child = this.start(args, options);
    child.stdin?.end();
    return outcomeOf(child);
  }

  /** Runs one command in this process: many questions are asked in a moment. */
  async command(...args: readonly string[]): Promise<Outcome> {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const texts = Promise.all([text(stdout), text(stderr)]);
    const io = { stdin, stdout, stderr, env: this.env, argv: args, cwd: () => this.base };
    const status = await runCli(args, io);
    stdout.end();
    stderr.end();
    const [out, err] = await texts;
    return { status, out, err };
  }

  /** The result of a command that prints JSON, and its status; run in this process. */
  async json<T>(...args: readonly string[]): Promise<T & { readonly status: number | null }> {
    const { out, err, status } = await this.command(...args, '--json');
    assert.notEqual(out, '', `rootsd ${args.join(' ')}: ${err}`);
    return { ...(JSON.parse(out) as T), status };
  }

  /** Starts the daemon; resolves when it answers or has ended. */
  serve(...args: readonly string[]): Promise<Served> {
    return this.serveWith({}, ...args);
  }

  async serveWith(options: StartOptions, ...args: readonly string[]): Promise<Served> {
    const served = this.begin(options, ...args);
    await served.started;
    return served;
  }

  /** Starts the daemon and waits for nothing. */
  begin(options: StartOptions, ...args: readonly string[]): Served {
    const served = new Served(this.start(['serve', ...args], { cwd: '/', ...options }));
    this.#daemons.push(served);
    return served;
  }

  /** Connects to the daemon and attaches, as a server that only says its name. */
  async peer(server: string, { watch = false }: { readonly watch?: boolean } = {}): Promise<RawPeer> {
    const peer = await connectPeer(this.#t, this.socket);
    const { error } = await peer.request('rootsd/attach', { version: 1, server });
    assert.equal(error, undefined);
    if (watch) await peer.request('rootsd/watch', {});
    return peer;
  }
}

/** A daemon process and its log. */
export class Served {
  readonly process: ChildProcess;
  readonly ended: Promise<Outcome>;
  readonly started: Promise<unknown>;
  readonly #lines: { readonly message: string; readonly [field: string]: unknown }[] = [];
  readonly #others: string[] = [];
  #wake: (() => void)[] = [];
  #isOver = false;

  constructor(child: ChildProcess) {
    this.process = child;
    this.ended = outcomeOf(child);
    let rest = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      const lines = `${rest}${chunk}`.split('\n');
      rest = lines.pop() ?? '';
      this.#others.push(...lines.filter((line) => !line.startsWith('{')));
      this.#lines.push(...lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line)));
      this.#changed();
    });
    child.on('close', () => {
      this.#isOver = true;
      this.#changed();
    });
    this.started = this.logged('daemon started').catch(() => undefined);
  }

  /** Waits for the `count`th line of the log with this message. */
  async logged(message: string, count = 1): Promise<Readonly<Record<string, unknown>>> {
    for (;;) {
      const found = this.#lines.filter((line) => line.message === message)[count - 1];
      if (found !== undefined) return found;
      if (this.#isOver) throw new Error(`The daemon has ended without "${message}"`);
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  /** Waits for a line on its standard error that is none of the log and begins so. */
  async said(start: string): Promise<void> {
    while (!this.#others.some((line) => line.startsWith(start))) {
      if (this.#isOver) throw new Error(`The daemon has ended without "${start}"`);
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  /** How many lines with this message there are so far. */
  count(message: string): number {
    return this.#lines.filter((line) => line.message === message).length;
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  /** Sends a signal and waits for the end. */
  async kill(signal: NodeJS.Signals): Promise<Outcome> {
    this.process.kill(signal);
    return this.ended;
  }

  #changed(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}

/** Collects what a process writes, until its end. */
export function outcomeOf(child: ChildProcess): Promise<Outcome> {
  const written = { out: '', err: '' };
  child.stdout?.on('data', (chunk: Buffer) => {
    written.out += chunk;
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    written.err += chunk;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, ...written }));
  });
}
