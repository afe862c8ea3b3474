// A home with a policy and a real daemon of the built program, for what is measured through it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const ROOTSD = fileURLToPath(new URL('../bin/rootsd', import.meta.url));
if (!existsSync(join(dirname(ROOTSD), '../dist/main.js'))) throw new Error('run "npm run build" first');

/**
 * Opens a home whose policy is this text (`version: 1` is added), and its daemon. `config` is added to rootsd.yaml;
 * `nodeOptions` are the daemon's, and with `ipc` it has a channel to what they load into it.
 */
export async function openHome(policy, { nodeOptions = [], ipc = false, config = '' } = {}) {
  const base = realpathSync.native(mkdtempSync(join(tmpdir(), 'rootsd-bench-')));
  const paths = {
    base,
    home: join(base, 'home'),
    socket: join(base, 'run/rootsd.sock'),
    control: join(base, 'run/control.sock'),
    policy: join(base, 'home/.config/rootsd/policies.d/bench.yaml'),
  };
  const environment = { PATH: process.env.PATH, HOME: paths.home, ROOTSD_SOCKET: paths.socket };
  const layers = { system: join(base, 'etc'), user: dirname(paths.policy) };
  put(join(paths.home, '.config/rootsd/rootsd.yaml'), `version: 1\nlayers: ${JSON.stringify(layers)}\n${config}`);
  const write = (text) => put(paths.policy, `version: 1\n${text}`);
  write(policy);
  const daemon = spawn(process.execPath, [...nodeOptions, ROOTSD, 'serve'], {
    cwd: '/',
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe', ...(ipc ? ['ipc'] : [])],
  });
  const ended = once(daemon, 'close');
  const log = createInterface({ input: daemon.stderr });
  let last = '';
  await new Promise((resolve, reject) => {
    log.on('line', (line) => {
      last = line;
      if (line.includes('"daemon started"')) resolve();
    });
    daemon.on('close', () => reject(new Error(`The daemon has ended: ${last}`)));
  });
  return {
    ...paths,
    env: environment,
    daemon,
    /** Emits `line` for each line of the daemon's log. */
    log,
    write,
    async close() {
      daemon.kill('SIGTERM');
      await ended;
      rmSync(base, { recursive: true, force: true });
    },
  };
}

/** Writes as careful editors do: beside it, then renamed. */
export function put(path, content) {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(`${path}.new`, content, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
