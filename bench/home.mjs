// A home with a policy and a real daemon of the built program, for what is measured through it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const ROOTSD = fileURLToPath(new URL('../bin/rootsd', import.meta.url));
if (!existsSync(join(dirname(ROOTSD), '../dist/main.js'))) throw new Error('run "npm run build" first');

/** Opens a home whose policy is this text (`version: 1` is added), and its daemon. `config` is added to rootsd.yaml. */
export async function openHome(policy, { config, ...options } = {}) {
  const home = makeHome({ config });
  home.write(policy);
  const { daemon, log, stop } = await startDaemon(home, options);
  return {
    ...home,
    daemon,
    log,
    async close() {
      await stop();
      home.remove();
    },
  };
}

/** A home without a policy and without a daemon. */
export function makeHome({ config = '' } = {}) {
  const base = realpathSync.native(mkdtempSync(join(tmpdir(), 'rootsd-bench-')));
  const paths = {
    base,
    home: join(base, 'home'),
    socket: join(base, 'run/rootsd.sock'),
    control: join(base, 'run/control.sock'),
    policy: join(base, 'home/.config/rootsd/policies.d/bench.yaml'),
  };
  const layers = { system: join(base, 'etc'), user: dirname(paths.policy) };
  put(join(paths.home, '.config/rootsd/rootsd.yaml'), `version: 1\nlayers: ${JSON.stringify(layers)}\n${config}`);
  return {
    ...paths,
    env: { PATH: process.env.PATH, HOME: paths.home, ROOTSD_SOCKET: paths.socket },
    /** Writes the policy, or another file of its layer. */
    write: (text, name = basename(paths.policy)) => put(join(layers.user, name), `version: 1\n${text}`),
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}

/**
 * Starts the daemon of a home; when this resolves it has been ready after `readyMs`. `nodeOptions` are the daemon's, and
 * with `ipc` it has a channel to what they load into it.
 */
export async function startDaemon(home, { nodeOptions = [], ipc = false } = {}) {
  const begin = performance.now();
  const daemon = spawn(process.execPath, [...nodeOptions, ROOTSD, 'serve'], {
    cwd: '/',
    env: home.env,
    stdio: ['ignore', 'ignore', 'pipe', ...(ipc ? ['ipc'] : [])],
  });
  // A benchmark that breaks must leave no daemon behind.
  const kill = () => daemon.kill('SIGKILL');
  process.once('exit', kill);
  const ended = once(daemon, 'close').finally(() => process.off('exit', kill));
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
    daemon,
    /** Emits `line` for each line of the daemon's log. */
    log,
    readyMs: performance.now() - begin,
    async stop() {
      daemon.kill('SIGTERM');
      await ended;
    },
  };
}

/** Writes as careful editors do: beside it, then renamed. */
export function put(path, content) {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(`${path}.new`, content, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
