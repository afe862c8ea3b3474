// `npm start` as a person meets it: at a terminal.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants as osConstants } from 'node:os';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { ROOTSD, TestHome } from '../support/serve.ts';

const skip = existsSync('/usr/bin/python3') ? false : 'needs python3';

/**
 * Runs a command line at a terminal of its own. `close`: hangs up once it is ready. `lose`: the same where a shell in
 * between, and a pipe, keep the hangup away. `edit`: sends SIGHUP, takes an access
 * away in the policy that the screen names, waits until the screen says so, and types Ctrl-C.
 */
const AT_TERMINAL = `
import json, os, pty, re, signal, sys
deed, command = sys.argv[1], sys.argv[2:]
pid, terminal = pty.fork()
if pid == 0:
    os.execv(command[0], command)
shown = ""
def until(pattern, start=0):
    global shown
    while not re.search(pattern, shown[start:]):
        shown += os.read(terminal, 65536).decode()
until("Ctrl-C ends it")
if deed in ("close", "lose"):
    os.close(terminal)
else:
    os.kill(pid, signal.SIGHUP)
    policy = re.search(r"edit (\\S+)", shown)[1]
    text = open(policy).read().replace("access: read-write", "access: read-only", 1)
    open(policy, "w").write(text)
    until("read-only +frontend", len(shown))
    os.write(terminal, b"\\x03")
_, status = os.waitpid(pid, 0)
print(json.dumps({ "shown": shown, "status": os.waitstatus_to_exitcode(status) }))`;

interface Seen {
  readonly shown: string;
  /** Negative: the signal that ended it. */
  readonly status: number;
}

async function atTerminal(home: TestHome, deed: 'close' | 'edit' | 'lose', ...args: readonly string[]): Promise<Seen> {
  const own = [process.execPath, ROOTSD, ...args];
  const command = deed === 'lose' ? ['/bin/sh', '-c', `trap '' HUP; "$@" | cat`, 'sh', ...own] : own;
  const { stdout } = await promisify(execFile)('python3', ['-c', AT_TERMINAL, deed, ...command], { env: home.env });
  return JSON.parse(stdout) as Seen;
}

function exampleHome({ shown }: Seen): string {
  const [, home = ''] = /All of this lives in (\S+)/.exec(shown) ?? [];
  assert.notEqual(home, '', shown);
  return home;
}

describe('rootsd serve --example', { skip }, () => {
  it('says what each server may see, shows a change, survives SIGHUP, and ends at Ctrl-C without a trace', async (t) => {
    const seen = await atTerminal(new TestHome(t), 'edit', 'serve', '--example');
    const home = exampleHome(seen);
    assert.ok(seen.shown.includes(`listens on ${home}/run/rootsd.sock`), seen.shown);
    assert.match(seen.shown, /read-write +frontend .* by rule web-work/);
    assert.ok(seen.shown.includes(`run --socket ${home}/run/rootsd.sock --server filesystem -- npx -y`), seen.shown);
    assert.ok(seen.shown.includes(`explain --socket ${home}/run/rootsd.sock --server filesystem`), seen.shown);
    assert.deepEqual([seen.status, existsSync(home)], [0, false]);
  });

  it('ends when its terminal is closed, and leaves no trace', async (t) => {
    const seen = await atTerminal(new TestHome(t), 'close', 'serve', '--example');
    assert.deepEqual([seen.status, existsSync(exampleHome(seen))], [-osConstants.signals.SIGHUP, false]);
  });

  it('ends when its terminal is gone and nobody tells it', async (t) => {
    const seen = await atTerminal(new TestHome(t), 'lose', 'serve', '--example');
    assert.equal(existsSync(exampleHome(seen)), false);
  });
});
