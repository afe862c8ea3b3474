import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { RootsError } from '../../src/core/errors.ts';
import type { Clock } from '../../src/disk/clock.ts';
import { openLastGood } from '../../src/state/last-good.ts';
import type { Log } from '../../src/system/log.ts';
import { FakeClock } from '../support/clock.ts';
import { makeEntry, makeTree } from '../support/tree.ts';

const OWNER = { uid: process.getuid?.() ?? -1 };
const ABSENT = { state: 'absent' };
const FILES = [
  { path: '/p/a.yaml', text: 'version: 1\n' },
  { path: '/p/größe.yaml', text: '# 🔥 \u2028 "quoted"\r\n' },
];

function openedStore(t: TestContext, clock?: Clock) {
  const base = makeTree(t, []);
  const directory = join(base, 'last-good');
  const said: [string, RootsError][] = [];
  const log: Log = (_level, event, fields) => said.push([event, fields?.error as RootsError]);
  const open = () => openLastGood({ directory, owner: OWNER, log, ...(clock === undefined ? {} : { clock }) });
  return { ...open(), open, directory, said };
}

test('load() gives back what save() was given, also to the next start', async (t) => {
  const { save, load, open, said } = openedStore(t);
  assert.deepEqual(await load('user'), ABSENT);
  await save('user', FILES);
  assert.deepEqual(await load('user'), { state: 'good', files: FILES });
  assert.deepEqual(await open().load('user'), { state: 'good', files: FILES });
  assert.deepEqual(await load('system'), ABSENT);
  await save('user', []);
  assert.deepEqual(await load('user'), { state: 'good', files: [] });
  assert.deepEqual(said, []);
});

test('save() writes a file and a directory that only the owner can see', async (t) => {
  const { save, directory } = openedStore(t);
  await save('user', FILES);
  assert.equal(statSync(directory).mode & 0o777, 0o700);
  assert.equal(statSync(join(directory, 'user.json')).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(directory), ['user.json']);
});

test('remove() forgets a layer, also one that was never kept', async (t) => {
  const { save, load, remove, said } = openedStore(t);
  await save('user', FILES);
  await remove('user');
  await remove('system');
  assert.deepEqual(await load('user'), ABSENT);
  assert.deepEqual(said, []);
});

test('load() refuses what was damaged, is somebody else’s or is not what we write, and says why', async (t) => {
  const good = () => readFileSync(join(directory, 'user.json'), 'utf8');
  const rewrite = (text: string) => writeFileSync(join(directory, 'user.json'), text);
  const { save, load, directory, said } = openedStore(t);
  const parsed = () => JSON.parse(good());
  const rows: [string, () => void, RegExp][] = [
    ['cut off', () => rewrite(good().slice(0, 40)), /it is not JSON$/],
    ['empty', () => rewrite(''), /it is not JSON$/],
    ['one byte changed', () => rewrite(good().replace('version: 1', 'version: 2')), /digest does not fit/],
    ['another path', () => rewrite(good().replace('/p/a.yaml', '/p/b.yaml')), /digest does not fit/],
    ['a file left out', () => rewrite(JSON.stringify({ ...parsed(), files: [FILES[0]] })), /digest does not fit/],
    ['of another layer', () => rewrite(JSON.stringify({ ...parsed(), layer: 'system' })), /not the form/],
    ['of another version', () => rewrite(JSON.stringify({ ...parsed(), version: 2 })), /not the form/],
    ['a list', () => rewrite('[]'), /not the form/],
    ['null', () => rewrite('null'), /not the form/],
    ['a file without text', () => rewrite(JSON.stringify({ ...parsed(), files: [{ path: '/p' }] })), /not the form/],
    ['no UTF-8', () => writeFileSync(join(directory, 'user.json'), Buffer.from([0x22, 0xff, 0x22])), /cannot be read/],
    ['writable by others', () => chmodSync(join(directory, 'user.json'), 0o606), /others can write it/],
    ['a link', () => makeEntry(directory, 'link user.json -> other.json'), /it is a link$/],
    ['a pipe', () => makeEntry(directory, 'fifo user.json'), /not a regular file$/],
    ['a directory', () => makeEntry(directory, 'dir user.json'), /not a regular file$/],
    ['in a directory that others can write', () => chmodSync(directory, 0o777), /writable by others$/],
  ];
  for (const [what, damage, message] of rows) {
    chmodSync(directory, 0o700);
    rmSync(join(directory, 'user.json'), { recursive: true, force: true });
    if (/^a (link|pipe|directory)$/.test(what) === false) await save('user', FILES);
    damage();
    assert.equal((await load('user')).state, 'refused', what);
    const [event, error] = said.pop() ?? [];
    assert.equal(event, 'last good state refused', what);
    assert.match(error?.message ?? '', message, what);
    assert.deepEqual(said, [], what);
  }
});

test('load() refuses a file of another user', async (t) => {
  if (OWNER.uid !== 0) return t.skip('needs root: chown');
  const { save, load, directory, said } = openedStore(t);
  await save('user', FILES);
  chownSync(join(directory, 'user.json'), 65_534, 65_534);
  assert.equal((await load('user')).state, 'refused');
  assert.match(said[0]?.[1].message ?? '', /it belongs to uid 65534$/);
});

test('save() and remove() that fail say so once, do not reject, and are done when they can be', async (t) => {
  const clock = new FakeClock();
  const { save, load, remove, problems, close, directory, said } = openedStore(t, clock);
  const wrong = () => problems().map(({ code, severity, file }) => [code, severity, file]);
  const events = () => said.splice(0).map(([event, error]) => [event, error?.code]);
  makeEntry(directory, 'file user.json/x y');
  await remove('user');
  await save('user', FILES);
  assert.deepEqual(wrong(), [['STATE_UNWRITABLE', 'warning', join(directory, 'user.json')]]);
  await clock.advance(30_000);
  assert.deepEqual(events(), [['last good state not kept', 'STATE_UNWRITABLE']]);
  rmSync(join(directory, 'user.json'), { recursive: true });
  await clock.advance(10_000);
  while (said.length === 0) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(events(), [['state file written again', undefined]]);
  await save('user', FILES);
  assert.deepEqual(wrong(), []);
  assert.deepEqual(await load('user'), { state: 'good', files: FILES });
  makeEntry(directory, 'dir system.json');
  await save('system', FILES);
  close();
  await clock.advance(60_000);
  assert.deepEqual(events(), [['last good state not kept', 'STATE_UNWRITABLE']]);
  assert.deepEqual(readdirSync(directory).sort(), ['system.json', 'user.json']);
});

test('openLastGood() removes what a killed write has left', async (t) => {
  const { save, open, directory } = openedStore(t);
  await save('user', FILES);
  makeEntry(directory, 'file .user.json.0123456789abcdef.tmp half');
  open();
  assert.deepEqual(readdirSync(directory), ['user.json']);
});

test('openLastGood() refuses a directory that others can write', (t) => {
  const { open, directory } = openedStore(t);
  chmodSync(directory, 0o777);
  assert.throws(open, { code: 'DIRECTORY_UNSAFE' });
});

test('save() that fails leaves nothing that a start could use: what is there is older than what is in force', async (t) => {
  const { save, load, directory } = openedStore(t);
  await save('user', FILES);
  // The temporary file cannot be made beside what must not be swapped.
  const program = fileURLToPath(new URL('../support/full-disk-last-good.ts', import.meta.url));
  const { status, stdout, stderr } = spawnSync(
    'unshare',
    ['--mount', process.execPath, '--import', 'tsx', program, directory],
    { encoding: 'utf8' },
  );
  if (/unshare failed|not permitted/.test(stderr)) return t.skip('needs mount namespaces');
  assert.equal(status, 0, stderr);
  assert.deepEqual(stdout.trim().split('\n'), ['good', 'refused', 'good']);
  assert.equal((await load('user')).state, 'good');
});
