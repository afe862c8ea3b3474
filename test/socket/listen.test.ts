import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { RootsError } from '../../src/core/errors.ts';
import {
  checkOwnerOnly,
  isAnswered,
  type ListenAt,
  type Listener,
  listen,
  MAX_SOCKET_PATH_BYTES,
} from '../../src/socket/listen.ts';
import { temporaryDirectory } from '../support/tree.ts';

async function open(t: TestContext, at: ListenAt): Promise<Listener> {
  const listener = await listen(at, { onConnection: (socket) => socket.destroy(), onError: assert.ifError });
  t.after(() => listener.close());
  return listener;
}

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}

test('listen() makes a socket 0600 in a directory 0700, whatever the umask', async (t) => {
  for (const umask of [0o000, 0o022, 0o077]) {
    const directory = join(temporaryDirectory(t), 'a', 'run');
    const before = process.umask(umask);
    t.after(() => process.umask(before));
    const { address } = await open(t, { path: join(directory, 'rootsd.sock') });
    process.umask(before);
    assert.equal(address, join(directory, 'rootsd.sock'));
    assert.deepEqual([modeOf(address), modeOf(directory)], [0o600, 0o700]);
    assert.deepEqual(readdirSync(directory), ['rootsd.sock']);
  }
});

test('listen() gives a socket the mode that is asked for', async (t) => {
  const { address } = await open(t, { path: join(temporaryDirectory(t), 's'), mode: 0o666 });
  assert.equal(modeOf(address), 0o666);
});

test('no moment of a start shows a socket to others', {
  skip: process.platform !== 'linux' && 'needs Linux',
}, async (t) => {
  const directory = temporaryDirectory(t);
  // Looks at every name in the directory as fast as it can; says what had bits for group or others.
  const watcher = spawn('perl', [
    '-e',
    `$| = 1; print "ready\\n"; my $d = shift; while (!-e "$d/stop") { opendir(my $h, $d); for my $n (readdir $h) {
      my @s = lstat("$d/$n"); print sprintf("%s %o\\n", $n, $s[2]) if @s && ($s[2] & 0170000) == 0140000 && ($s[2] & 077); } }`,
    directory,
  ]);
  const seen: string[] = [];
  watcher.stdout.setEncoding('utf8').on('data', (text: string) => seen.push(text));
  await once(watcher.stdout, 'data');
  const before = process.umask(0);
  try {
    for (let i = 0; i < 100; i += 1) {
      const listener = await listen(
        { path: join(directory, 's') },
        { onConnection: () => {}, onError: assert.ifError },
      );
      listener.close();
    }
  } finally {
    process.umask(before);
  }
  writeFileSync(join(directory, 'stop'), '');
  await once(watcher, 'close');
  assert.deepEqual(seen, ['ready\n']);
});

test('listen() refuses a path that the kernel would cut, and makes nothing', async (t) => {
  const base = temporaryDirectory(t);
  const directory = join(base, 'd'.repeat(MAX_SOCKET_PATH_BYTES - Buffer.byteLength(base) - 2 - 10));
  const longest = join(directory, 'é'.repeat(5));
  assert.equal(Buffer.byteLength(longest), MAX_SOCKET_PATH_BYTES);
  await assert.rejects(open(t, { path: `${longest}x` }), (error: RootsError) => {
    assert.equal(error.code, 'SOCKET_PATH_TOO_LONG');
    assert.match(error.message, new RegExp(`${MAX_SOCKET_PATH_BYTES + 1} bytes.*${MAX_SOCKET_PATH_BYTES}`));
    return true;
  });
  assert.deepEqual(readdirSync(base), []);
  await open(t, { path: longest });
  assert.deepEqual(readdirSync(directory), ['é'.repeat(5)]);
});

test('listen() measures the path that a link stands for', async (t) => {
  const base = temporaryDirectory(t);
  mkdirSync(join(base, 'd'.repeat(MAX_SOCKET_PATH_BYTES)));
  symlinkSync('d'.repeat(MAX_SOCKET_PATH_BYTES), join(base, 'short'));
  await assert.rejects(open(t, { path: join(base, 'short/run/s') }), { code: 'SOCKET_PATH_TOO_LONG' });
});

test('listen() never takes over a live socket and always a dead one', async (t) => {
  const directory = temporaryDirectory(t);
  const path = join(directory, 'rootsd.sock');
  const script = `require("net").createServer().listen(${JSON.stringify(path)}, () => console.log("up"))`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  await assert.rejects(open(t, { path }), { code: 'SOCKET_IN_USE' });
  assert.equal(await isAnswered(path), true);
  assert.deepEqual(readdirSync(directory), ['rootsd.sock']);
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.equal(await isAnswered(path), false);
  assert.ok(lstatSync(path).isSocket());
  await open(t, { path });
  assert.equal(await isAnswered(path), true);
});

test('a second listener on the same path leaves the first one reachable', async (t) => {
  const path = join(temporaryDirectory(t), 's');
  await open(t, { path });
  await assert.rejects(open(t, { path }), { code: 'SOCKET_IN_USE' });
  assert.equal(await isAnswered(path), true);
});

test('listen() removes nothing that is not a socket', async (t) => {
  const directory = temporaryDirectory(t);
  const rows: readonly ((path: string) => void)[] = [
    (path) => writeFileSync(path, 'precious'),
    (path) => mkdirSync(path),
    (path) => symlinkSync('/nowhere', path),
    (path) => execFileSync('mkfifo', [path]),
  ];
  for (const [i, make] of rows.entries()) {
    const path = join(directory, `s${i}`);
    make(path);
    const before = lstatSync(path).ino;
    await assert.rejects(open(t, { path }), { code: 'SOCKET_UNSAFE' });
    assert.equal(lstatSync(path).ino, before);
  }
});

test('listen() refuses a directory that others could have written in or that is a link', async (t) => {
  const base = temporaryDirectory(t);
  for (const [name, mode] of [
    ['other', 0o707],
    ['sticky', 0o1777],
    ['group', 0o770],
  ] as const) {
    mkdirSync(join(base, name));
    chmodSync(join(base, name), mode);
    await assert.rejects(open(t, { path: join(base, name, 's') }), { code: 'DIRECTORY_UNSAFE' }, name);
    assert.deepEqual(readdirSync(join(base, name)), []);
  }
  mkdirSync(join(base, 'real'));
  symlinkSync('real', join(base, 'alias'));
  await assert.rejects(open(t, { path: join(base, 'alias', 's') }), { code: 'DIRECTORY_UNSAFE' });
});

test('listen() does not use a directory that belongs to another user', {
  skip: process.getuid?.() !== 0 && 'needs root',
}, async (t) => {
  const base = temporaryDirectory(t);
  mkdirSync(join(base, 'theirs'), { mode: 0o700 });
  execFileSync('chown', ['65534', join(base, 'theirs')]);
  await assert.rejects(open(t, { path: join(base, 'theirs', 's') }), { code: 'DIRECTORY_UNSAFE' });
});

test('close() removes its socket, and only its own', async (t) => {
  const directory = temporaryDirectory(t);
  const path = join(directory, 's');
  (await open(t, { path })).close();
  assert.deepEqual(readdirSync(directory), []);

  const twice = await open(t, { path });
  twice.close();
  const next = await open(t, { path });
  twice.close();
  assert.equal(await isAnswered(path), true);
  next.close();

  const replaced = await open(t, { path });
  rmSync(path);
  const successor = await open(t, { path });
  replaced.close();
  assert.equal(await isAnswered(path), true);
  successor.close();

  const moved = await open(t, { path });
  renameSync(path, join(directory, 'elsewhere'));
  writeFileSync(path, 'not ours');
  moved.close();
  assert.ok(existsSync(path));
});

test('an inherited descriptor is served and its file is never removed', async (t) => {
  const path = join(temporaryDirectory(t), 's');
  const server = createServer().listen(path);
  await once(server, 'listening');
  t.after(() => server.close());
  const { _handle: handle } = server as unknown as { readonly _handle: { readonly fd: number } };
  // A second name keeps the file for us to look at, since Node's own server removes the first one.
  linkSync(path, `${path}.kept`);
  const module = JSON.stringify(new URL('../../src/socket/listen.ts', import.meta.url).href);
  const script = `import { listen } from ${module};
    const listener = await listen({ fd: 3, name: 'peers' }, { onConnection: (s) => s.end('served'), onError() {} });
    console.log(listener.address); process.stdin.on('end', () => { listener.close(); process.exit(0); }).resume();`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['pipe', 'pipe', 'inherit', handle.fd],
  });
  t.after(() => child.kill('SIGKILL'));
  assert.ok(child.stdout && child.stdin);
  const [address] = await once(child.stdout, 'data');
  assert.equal(String(address).trim(), path);
  child.stdin.end();
  assert.deepEqual(await once(child, 'exit'), [0, null]);
  assert.ok(lstatSync(path).isSocket());
});

test('listen() refuses a descriptor that is no listening socket', async (t) => {
  await assert.rejects(
    open(t, { fd: 987, name: 'peers' }),
    (error) => error instanceof RootsError && error.code === 'SOCKET_FAILED',
  );
});

test('checkOwnerOnly() refuses a socket that other users reach, where nobody could say who they are', async (t) => {
  const base = temporaryDirectory(t);
  checkOwnerOnly(await open(t, { path: join(base, 'own.sock') }));
  // As systemd-socket-activate makes it: only who may write can connect.
  checkOwnerOnly(await open(t, { path: join(base, 'readable.sock'), mode: 0o644 }));
  const shared = await open(t, { path: join(base, 'shared.sock'), mode: 0o666 });
  assert.throws(() => checkOwnerOnly(shared), { code: 'SOCKET_UNSAFE' });
  assert.throws(() => checkOwnerOnly({ address: 'fd:3' }), { code: 'SOCKET_UNSAFE' });
});
