// Commands at a pseudo-terminal.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { ROOTSD, type TestHome } from './serve.ts';

export const NEEDS_TERMINAL = { skip: existsSync('/usr/bin/python3') ? false : 'needs python3' };

/**
 * Runs a command line at a terminal of its own: what it shows goes to standard output, what comes in is typed, a line each
 * (`\n` within as JSON). At its end the last line says its status, and whether the terminal is as it was.
 */
export const AT_TERMINAL = `
import json, os, pty, select, signal, sys, termios
terminal, other = pty.openpty()
before = termios.tcgetattr(other)
pid = os.fork()
if pid == 0:
    os.setsid()
    import fcntl
    fcntl.ioctl(other, termios.TIOCSCTTY, 0)
    for fd in (0, 1, 2): os.dup2(other, fd)
    os.close(terminal)
    os.execv(sys.argv[1], sys.argv[1:])
rest = b""
status = None
while status is None:
    ready, _, _ = select.select([terminal, 0], [], [], 0.05)
    if terminal in ready:
        os.write(1, os.read(terminal, 65536))
    if 0 in ready:
        typed = os.read(0, 65536)
        if typed == b"": os.kill(pid, signal.SIGKILL)
        *lines, rest = (rest + typed).split(b"\\n")
        for line in lines:
            what = json.loads(line)
            if "signal" in what: os.kill(pid, what["signal"])
            else: os.write(terminal, what["type"].encode())
    ended, code = os.waitpid(pid, os.WNOHANG)
    if ended: status = os.waitstatus_to_exitcode(code)
while select.select([terminal], [], [], 0)[0]: os.write(1, os.read(terminal, 65536))
print(json.dumps({"status": status, "restored": termios.tcgetattr(other) == before}))`;

export interface AgentEnd {
  /** Negative: the signal that ended it. */
  readonly status: number;
  /** Is the terminal as it was before? */
  readonly restored: boolean;
}

/** A command at a terminal of its own. */
export class TestTerminal {
  /** All that was shown. */
  shown = '';
  readonly ended: Promise<AgentEnd>;
  readonly #process: ChildProcess;
  #wake: (() => void)[] = [];
  #from = 0;

  constructor(t: TestContext, env: NodeJS.ProcessEnv, command: readonly string[]) {
    const process = spawn('python3', ['-c', AT_TERMINAL, ...command], { env, stdio: 'pipe' });
    t.after(async () => {
      process.stdin?.end();
      await this.ended.catch(() => {});
    });
    this.#process = process;
    const take = (chunk: Buffer) => {
      this.shown += String(chunk);
      for (const wake of this.#wake.splice(0)) wake();
    };
    process.stdout?.on('data', take);
    process.stderr?.on('data', take);
    this.ended = new Promise((resolve, reject) => {
      process.on('close', () => {
        const last = this.shown.trimEnd().split('\n').at(-1) ?? '';
        for (const wake of this.#wake.splice(0)) wake();
        if (last.startsWith('{')) resolve(JSON.parse(last) as AgentEnd);
        else reject(new Error(this.shown));
      });
    });
  }

  type(keys: string): void {
    this.#process.stdin?.write(`${JSON.stringify({ type: keys })}\n`);
  }

  signal(number: number): void {
    this.#process.stdin?.write(`${JSON.stringify({ signal: number })}\n`);
  }

  /** Waits until it shows that, after what was waited for before. */
  async sees(pattern: RegExp): Promise<string> {
    for (;;) {
      const found = pattern.exec(this.shown.slice(this.#from));
      if (found !== null) {
        this.#from += found.index + found[0].length;
        return found[0];
      }
      if (this.#process.exitCode !== null) throw new Error(`It has ended without ${pattern}: ${this.shown}`);
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }
}

/** Resolves when it has connected. */
export async function openAgent(t: TestContext, home: TestHome, ...args: readonly string[]): Promise<TestTerminal> {
  const agent = new TestTerminal(t, home.env, [process.execPath, ROOTSD, 'consent', 'agent', ...args]);
  await agent.sees(/Questions are shown here/);
  return agent;
}
