// What machines and people do to a daemon, each until the signal says stop; each leaves things as they were.
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ROOTSD } from '../home.mjs';
import { StdioHost } from '../stdio-host.mjs';
import { Peer } from './peer.mjs';

const FILESYSTEM = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js', import.meta.url),
);
const NAMES = ['a', 'b', 'c', 'd', 'e'];
const ROOTS = `roots:
${NAMES.map((name) => `  ${name}: { path: ~/${name} }`).join('\n')}
  projects: { path: ~/src/*, having: [.git] }
`;

/** The policy in which each load leaves the home. `a` is allowed in all of them: the honest session has it. */
export const POLICY = `${ROOTS}rules: [{ id: all, allow: [${NAMES}, projects] }]\n`;

const EDITS = [
  `${ROOTS}rules: [{ id: some, allow: [a, c, e] }]\n`,
  `${ROOTS}rules: [{ id: all, allow: [${NAMES}, projects] }, { id: no, deny: [~/b, d], servers: [watcher] }]\n`,
  `${ROOTS}rules: [{ id: one, allow: [a] }, { id: ask, ask: [b, projects], servers: [files] }]\n`,
  // Broken: what was in force stays.
  `${ROOTS}rules: [{ id: all, allow: [nowhere`,
  `${ROOTS}rules: [{ id: all, allow: [a], servrs: [x] }]\n`,
  `roots:\n  a: { path: ~/a }\n${Array.from({ length: 200 }, (_, i) => `  r${i}: { path: ~/many/r${i} }\n`).join('')}rules: [{ id: all, allow: [a, r0, r199] }]\n`,
];

export function makeTree(home) {
  for (const name of NAMES) mkdirSync(join(home.home, name), { recursive: true });
  for (let i = 0; i < 10; i++) mkdirSync(join(home.home, `src/p${i}/.git`), { recursive: true });
}

export const LOADS = {
  async edits(home, signal) {
    for (let i = 0; !signal.aborted; i++) {
      home.write(EDITS[i % EDITS.length]);
      // Some come while the one before settles.
      await pause(i % 3 === 0 ? 40 : 250, signal);
    }
    home.write(POLICY);
  },

  async roots({ home }, signal) {
    const [b, c, away] = ['b', 'c', 'away'].map((name) => join(home, name));
    for (let i = 0; !signal.aborted; i++) {
      rmSync(b, { recursive: true, force: true });
      renameSync(c, away);
      mkdirSync(join(home, `src/n${i % 5}/.git`), { recursive: true });
      await pause(30, signal);
      mkdirSync(b);
      renameSync(away, c);
      rmSync(join(home, `src/n${(i + 3) % 5}`), { recursive: true, force: true });
      await pause(i % 8 === 0 ? 400 : 30, signal);
    }
    for (let i = 0; i < 5; i++) rmSync(join(home, `src/n${i}`), { recursive: true, force: true });
  },

  async churn({ socket }, signal) {
    while (!signal.aborted) {
      const peers = Array.from({ length: 20 }, () => new Peer(socket));
      const attached = peers.map((peer, i) => peer.attach(`churn${i}`));
      // Half of them leave before they are answered.
      await Promise.all([...attached.filter((_, i) => i % 2 === 0), pause(5, signal)]);
      await Promise.all(peers.map((peer) => peer.close()));
    }
  },

  async watchers({ socket }, signal) {
    while (!signal.aborted) {
      const peers = Array.from({ length: 10 }, () => new Peer(socket));
      for (const peer of peers) await peer.attach('watcher');
      for (const peer of peers) await peer.watch();
      await pause(500, signal);
      await Promise.all(peers.map((peer) => peer.close()));
    }
  },

  /** Asks and never reads, until the daemon has had enough. */
  async neverReads({ socket }, signal) {
    const line = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'roots/list' })}\n`.repeat(500);
    while (!signal.aborted) {
      const peer = new Peer(socket);
      await peer.attach('deaf');
      await peer.watch();
      peer.socket.pause();
      for (let i = 0; i < 20 && !signal.aborted; i++) {
        peer.socket.write(line);
        await pause(20, signal);
      }
      await Promise.race([peer.closed, pause(6_000, signal)]);
      await peer.close();
    }
  },

  async floods({ socket }, signal) {
    while (!signal.aborted) {
      const peer = new Peer(socket);
      await peer.attach('flood');
      await Promise.all(Array.from({ length: 1_000 }, () => peer.request('roots/list')));
      await peer.close();
    }
  },

  /** Connections that say nothing, half of something, too much or nonsense. */
  async strangers({ socket, control }, signal) {
    const words = ['', '{"jsonrpc":"2.0","id":1,"meth', 'GET / HTTP/1.1\r\n\r\n', `${'['.repeat(5_000)}\n`, '\0\xff\n'];
    for (let i = 0; !signal.aborted; i++) {
      const path = i % 2 === 0 ? socket : control;
      const stranger = createConnection({ path, allowHalfOpen: true });
      stranger.on('error', () => {});
      const gone = new Promise((resolve) => stranger.once('close', resolve));
      stranger.resume();
      if (i % 7 === 0) stranger.write('x'.repeat(5 * 1024 * 1024));
      stranger.write(Buffer.from(words[i % words.length], 'latin1'));
      if (i % 3 === 0) stranger.end();
      await pause(20, signal);
      stranger.destroy();
      await gone;
    }
  },

  async control({ control }, signal) {
    while (!signal.aborted) {
      const admin = new Peer(control);
      for (const method of ['rootsd/status', 'rootsd/sessions', 'rootsd/reload']) await admin.request(method, {});
      await admin.request('rootsd/explain', { server: 'files' });
      await admin.close();
      await pause(50, signal);
    }
  },

  /** Real servers behind `rootsd run`; every third host is killed with its server. */
  async servers({ env }, signal) {
    for (let i = 0; !signal.aborted; i++) {
      const command = [ROOTSD, 'run', '--server', 'files', '--', process.execPath, FILESYSTEM];
      const host = new StdioHost([process.execPath, ...command], { env });
      await host.initialize();
      host.initialized();
      await host.request('tools/call', { name: 'list_allowed_directories', arguments: {} });
      if (i % 3 === 0) host.process.kill();
      await host.close();
    }
  },
};

/** Ends early when the load is to stop. */
function pause(ms, signal) {
  return delay(ms, undefined, { signal }).catch(() => {});
}
