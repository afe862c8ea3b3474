import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  cpSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Native, openNative } from '../../src/disk/native.ts';
import { needsMounts } from '../support/private-mounts.ts';
import { makeTree, temporaryDirectory } from '../support/tree.ts';

const native = await openNative();
const linux = process.platform === 'linux';
const skip = native === null ? 'koffi is not installed' : !linux ? 'needs Linux' : false;

function loaded(): Native {
  assert.ok(native);
  return native;
}

function fdOf(socket: Socket): number {
  const { _handle: handle } = socket as unknown as { _handle: { fd: number } | null };
  return handle?.fd ?? -1;
}

/** Listens, starts a child that connects, and hands over the accepted socket, not yet read from. */
async function acceptChild(t: TestContext, uid?: number) {
  const directory = temporaryDirectory(t);
  const path = join(directory, 's');
  const server: Server = createServer({ pauseOnConnect: true });
  t.after(() => server.close());
  server.listen(path);
  await once(server, 'listening');
  if (uid !== undefined) execFileSync('chmod', ['-R', 'a+rwx', directory]);
  const script = `require('net').connect(${JSON.stringify(path)}).resume()`;
  const child = spawn(process.execPath, ['-e', script], {
    stdio: 'ignore',
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  t.after(() => child.kill('SIGKILL'));
  const [socket] = (await once(server, 'connection')) as [Socket];
  socket.on('error', () => {});
  t.after(() => socket.destroy());
  return { socket, child };
}

test('peerCredentials() names the process that connected', { skip }, async (t) => {
  const { socket, child } = await acceptChild(t);
  const { pid, uid, gid } = loaded().peerCredentials(fdOf(socket));
  assert.deepEqual({ pid, uid, gid }, { pid: child.pid, uid: process.getuid?.(), gid: process.getgid?.() });
});

test('peerCredentials() names another user', {
  skip: skip || (process.getuid?.() !== 0 && 'needs root'),
}, async (t) => {
  const { socket } = await acceptChild(t, 65534);
  const { uid, gid } = loaded().peerCredentials(fdOf(socket));
  assert.deepEqual({ uid, gid }, { uid: 65534, gid: 65534 });
});

test('peerCredentials() throws the errno of a descriptor that is none', { skip }, () => {
  assert.throws(() => loaded().peerCredentials(-1), { code: 'EBADF', syscall: 'getsockopt' });
});

test('isAlive() tells when the process of a peerPidfd() has ended', { skip }, async (t) => {
  const { socket, child } = await acceptChild(t);
  const pidfd = loaded().peerPidfd(fdOf(socket));
  if (pidfd === null) return t.skip('the kernel has no SO_PEERPIDFD');
  t.after(() => closeSync(pidfd));
  assert.equal(loaded().isAlive(pidfd), true);
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.equal(loaded().isAlive(pidfd), false);
});

test('duplicate() gives a second descriptor of what is open, which children do not get', { skip }, (t) => {
  const file = join(makeTree(t, ['file f']), 'f');
  const first = openSync(file, 'r');
  const second = loaded().duplicate(first);
  t.after(() => closeSync(second));
  closeSync(first);
  assert.equal(readlinkSync(`/proc/self/fd/${second}`), file);
  const O_CLOEXEC = 0o2000000;
  const [, flags = ''] = /^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${second}`, 'utf8')) ?? [];
  assert.notEqual(Number.parseInt(flags, 8) & O_CLOEXEC, 0);
  assert.throws(() => loaded().duplicate(987_654), { code: 'EBADF' });
});

test('tryLock() takes a lock once, and again after the holder has closed it', { skip }, (t) => {
  const file = join(temporaryDirectory(t), 'lock');
  const [first, second] = [openSync(file, 'a'), openSync(file, 'a')];
  t.after(() => closeSync(second));
  assert.equal(loaded().tryLock(first), true);
  assert.equal(loaded().tryLock(second), false);
  closeSync(first);
  assert.equal(loaded().tryLock(second), true);
});

test('tryLock() throws for a descriptor that is none', { skip }, () => {
  assert.throws(() => loaded().tryLock(-1), { code: 'EBADF' });
});

test('openat2NoMagicLinks() opens what the links lead to', { skip }, (t) => {
  const base = makeTree(t, ['dir a/ü', 'link b -> a', 'link c -> b/ü']);
  const fd = loaded().openat2NoMagicLinks(join(base, 'c'));
  t.after(() => closeSync(fd));
  assert.equal(readlinkSync(`/proc/self/fd/${fd}`), join(base, 'a/ü'));
  assert.ok(fstatSync(fd).isDirectory());
  assert.match(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'), /flags:\s+0?12000000/, 'O_PATH and O_CLOEXEC only');
});

test('openat2NoMagicLinks() refuses what no plain path can name', { skip }, (t) => {
  const base = makeTree(t, ['file f', 'link loop -> loop', 'link root -> /proc/self/root']);
  const rows: readonly (readonly [path: string, code: string])[] = [
    ['/proc/self/root/etc', 'ELOOP'],
    ['/proc/self/cwd', 'ELOOP'],
    [join(base, 'root/etc'), 'ELOOP'],
    [join(base, 'loop'), 'ELOOP'],
    [join(base, 'gone'), 'ENOENT'],
    [join(base, 'f/x'), 'ENOTDIR'],
    [`/${'x'.repeat(300)}`, 'ENAMETOOLONG'],
    // What koffi would cut or replace.
    [`${base}/f\0/x`, 'EINVAL'],
    [`${base}/\ud800`, 'EINVAL'],
  ];
  for (const [path, code] of rows) assert.throws(() => loaded().openat2NoMagicLinks(path), { code }, path);
});

/** Receives one datagram in perl, which every Debian has: Node cannot make such a socket. */
async function openReceiver(t: TestContext, address: string): Promise<() => Promise<string>> {
  const script = `use Socket; my $a = shift; $a =~ s/^@/\\0/; socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or die;
    bind($s, pack_sockaddr_un($a)) or die; $| = 1; print "ready"; recv($s, my $d, 9999, 0); print $d;`;
  const child = spawn('perl', ['-e', script, address], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return async () => String((await once(child.stdout, 'data'))[0]);
}

test('sendDatagram() reaches a socket by path and by abstract name', { skip }, async (t) => {
  for (const address of [join(temporaryDirectory(t), 'notify'), `@rootsd-test-${process.pid}`]) {
    const received = await openReceiver(t, address);
    loaded().sendDatagram(address, 'READY=1\nSTATUS=ü');
    assert.equal(await received(), 'READY=1\nSTATUS=ü');
  }
});

test('sendDatagram() throws where nobody listens or the name is no name, and leaves no descriptor open', {
  skip,
}, (t) => {
  const directory = temporaryDirectory(t);
  const before = readdirSync('/proc/self/fd').length;
  assert.throws(() => loaded().sendDatagram(join(directory, 'gone'), 'x'), { code: 'ENOENT' });
  assert.throws(() => loaded().sendDatagram(`@${'x'.repeat(108)}`, 'x'), { code: 'ENAMETOOLONG' });
  assert.throws(() => loaded().sendDatagram(`${directory}\0/x`, 'x'), { code: 'EINVAL' });
  assert.equal(readdirSync('/proc/self/fd').length, before);
});

test('mountsChanged() tells of a mount once', { skip: skip || needsMounts() }, () => {
  const script = `const { openNative } = await import('${new URL('../../src/disk/native.ts', import.meta.url)}');
    const { mountsChanged } = await openNative();
    const fd = (await import('node:fs')).openSync('/proc/self/mountinfo');
    const asked = [mountsChanged(fd)];
    (await import('node:child_process')).execFileSync('mount', ['-t', 'tmpfs', 'none', '/mnt']);
    console.log(JSON.stringify([...asked, mountsChanged(fd), mountsChanged(fd)]));`;
  const command = ['-m', process.execPath, '--import', 'tsx', '--input-type=module', '-e', script];
  assert.deepEqual(JSON.parse(String(execFileSync('unshare', command))), [false, true, false]);
});

test('a call that a signal interrupts is made again', { skip }, async (t) => {
  const fd = openSync('/proc/self/mountinfo', 'r');
  t.after(() => closeSync(fd));
  const heard = new Promise<void>((resolve) => process.once('SIGUSR2', () => resolve()));
  process.on('SIGUSR2', ignore);
  const flood = spawn('perl', ['-e', `kill(USR2 => ${process.pid}) while 1`]);
  t.after(async () => {
    flood.kill('SIGKILL');
    await once(flood, 'close');
    process.off('SIGUSR2', ignore);
  });
  await heard;
  for (let calls = 0; calls < 20_000; calls += 1) loaded().mountsChanged(fd);
});

function ignore(): void {}

test('openNative() is null where koffi is not installed', (t) => {
  const directory = temporaryDirectory(t);
  cpSync(fileURLToPath(new URL('../../src', import.meta.url)), directory, { recursive: true });
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  const script = `console.log(await (await import(${JSON.stringify(join(directory, 'disk/native.ts'))})).openNative())`;
  const output = execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script]);
  assert.equal(output.toString(), 'null\n');
});
