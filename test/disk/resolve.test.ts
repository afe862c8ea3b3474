import assert from 'node:assert/strict';
import { closeSync, mkdirSync, openSync, rmdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type KernelWalk, kernelWalk, realpathWalk } from '../../src/disk/kernel-walk.ts';
import { openNative } from '../../src/disk/native.ts';
import { resolvePath } from '../../src/disk/resolve.ts';
import { needsRoot, runAsNobody } from '../support/nobody.ts';
import { makeTree, temporaryDirectory } from '../support/tree.ts';

const native = await openNative();
const onLinux = process.platform === 'linux' ? false : 'needs /proc';

interface Walk {
  readonly name: string;
  readonly walk: KernelWalk;
  readonly skip: string | false;
}

/** Every way to walk must give the same answers. */
const WALKS: readonly Walk[] = [
  { name: 'O_PATH', walk: kernelWalk(), skip: onLinux },
  {
    name: 'openat2',
    walk: kernelWalk(native?.openat2NoMagicLinks),
    skip: onLinux || (native === null && 'needs koffi'),
  },
  { name: 'realpath', walk: realpathWalk(), skip: false },
];

/** `/x/y`; `/x/y (missing)`; `ENOTDIR`; `no` for a failure without an errno. */
function shown(path: string, walk: KernelWalk): string {
  const resolved = resolvePath(path, walk);
  if (!resolved.ok) return resolved.errno ?? 'no';
  return resolved.stat === null ? `${resolved.path} (missing)` : resolved.path;
}

const TREE = [
  'dir root/sub',
  'file root/f text',
  'fifo root/pipe',
  'dir other/deep',
  'file other/secret text',
  'link root/in -> sub',
  'link root/out -> ../other',
  'link root/three -> two',
  'link root/two -> one',
  'link root/one -> sub',
  'link root/dangling -> ../other/new',
  'link root/dangling-deep -> ../other/new/newer',
  'link root/dangling-up -> ../other/new/../x',
  'link root/loop -> loop',
  'link root/ping -> pong',
  'link root/pong -> ping',
  'link root/through-file -> f/x',
  'link root/file-slash -> f/',
  'link alias -> root',
];

function rowsOf(base: string): readonly (readonly [requested: string, result: string])[] {
  return [
    ['', base],
    ['/', base],
    ['/root', `${base}/root`],
    ['/root/f', `${base}/root/f`],
    ['/root/pipe', `${base}/root/pipe`],
    // Spellings of one place (B071).
    ['/root/', `${base}/root`],
    ['//root///sub//', `${base}/root/sub`],
    ['/./root/./sub/.', `${base}/root/sub`],
    // Links, in any place of the path and of any length.
    ['/alias', `${base}/root`],
    ['/alias/f', `${base}/root/f`],
    ['/alias/in/', `${base}/root/sub`],
    ['/root/three', `${base}/root/sub`],
    ['/root/out', `${base}/other`],
    ['/root/out/secret', `${base}/other/secret`],
    // `..` is physical: above where the link leads, not above where it lies.
    ['/root/sub/..', `${base}/root`],
    ['/root/out/..', base],
    ['/root/out/../other/secret', `${base}/other/secret`],
    ['/root/out/deep/../secret', `${base}/other/secret`],
    ['/root/../root-x', `${base}/root-x (missing)`],
    // What does not exist lies where it would be made.
    ['/root/new', `${base}/root/new (missing)`],
    ['/root/new/', `${base}/root/new (missing)`],
    ['/root/new/newer/./newest', `${base}/root/new/newer/newest (missing)`],
    ['/alias/in/new', `${base}/root/sub/new (missing)`],
    ['/root/out/new', `${base}/other/new (missing)`],
    ['/root/dangling', `${base}/other/new (missing)`],
    ['/root/dangling/x', `${base}/other/new/x (missing)`],
    ['/root/dangling-deep', `${base}/other/new/newer (missing)`],
    // What cannot be known is a no.
    ['/root/new/..', 'ENOENT'],
    ['/root/new/../f', 'ENOENT'],
    ['/root/dangling/../f', 'ENOENT'],
    ['/root/dangling-up', 'ENOENT'],
    ['/root/loop', 'ELOOP'],
    ['/root/loop/x', 'ELOOP'],
    ['/root/ping', 'ELOOP'],
    ['/root/f/', 'ENOTDIR'],
    ['/root/f/.', 'ENOTDIR'],
    ['/root/f/..', 'ENOTDIR'],
    ['/root/f/x', 'ENOTDIR'],
    ['/root/through-file', 'ENOTDIR'],
    ['/root/file-slash', 'ENOTDIR'],
    [`/root/${'n'.repeat(256)}`, 'ENAMETOOLONG'],
  ];
}

for (const { name, walk, skip } of WALKS) {
  describe(`resolvePath() by ${name}`, { skip }, () => {
    it('follows links and `..` as the kernel does, and says no to the rest', (t) => {
      const base = makeTree(t, TREE);
      for (const [requested, result] of rowsOf(base)) assert.equal(shown(base + requested, walk), result, requested);
      assert.equal(shown('/', walk), '/');
      assert.equal(shown('/..', walk), '/');
      assert.equal(shown('//', walk), '/');
    });

    it('follows forty links and no more', (t) => {
      const lines = Array.from({ length: 41 }, (_, i) => `link l${i + 1} -> ${i === 0 ? 'end' : `l${i}`}`);
      const base = makeTree(t, ['dir end', ...lines]);
      assert.equal(shown(`${base}/l40`, walk), `${base}/end`);
      assert.equal(shown(`${base}/l40/new`, walk), `${base}/end/new (missing)`);
      if (name === 'realpath') return; // C libraries draw the line elsewhere.
      assert.equal(shown(`${base}/l41`, walk), 'ELOOP');
      assert.equal(shown(`${base}/l41/new`, walk), 'ELOOP');
    });

    it('takes every name that is valid UTF-8 as it is', (t) => {
      const base = temporaryDirectory(t);
      const odd = [
        'a\nb',
        ' ',
        'x ',
        '%2e%2e',
        '...',
        '~',
        '\ufffd',
        'e\u0301',
        '\u00e9',
        '\u202e',
        'x (deleted)',
        '-',
        '😀',
      ];
      for (const entry of odd) {
        mkdirSync(`${base}/${entry}`);
        assert.equal(shown(`${base}/${entry}`, walk), `${base}/${entry}`, JSON.stringify(entry));
        assert.equal(shown(`${base}/${entry}/new`, walk), `${base}/${entry}/new (missing)`, JSON.stringify(entry));
      }
    });

    it('refuses a way through a name that is not UTF-8, and never mangles it', onLinuxOnly(), (t) => {
      const base = temporaryDirectory(t);
      const raw = Buffer.concat([Buffer.from(`${base}/raw`), Buffer.from([0xff])]);
      mkdirSync(raw);
      symlinkSync(raw, `${base}/link`);
      symlinkSync(Buffer.concat([raw, Buffer.from('/new')]), `${base}/dangling`);
      for (const entry of ['link', 'link/new', 'dangling']) assert.equal(shown(`${base}/${entry}`, walk), 'no', entry);
      assert.equal(shown(`${base}/raw\ufffd`, walk), `${base}/raw\ufffd (missing)`);
    });

    it('asks no kernel about a text that cannot be a path', () => {
      for (const text of ['', 'a', './a', '~', '/a\0', '/a\ud800', `/${'a'.repeat(4095)}`]) {
        assert.equal(shown(text, walk), 'no', JSON.stringify(text.slice(0, 10)));
      }
    });
  });
}

for (const { name, walk, skip } of WALKS.filter((it) => it.name !== 'realpath')) {
  describe(`resolvePath() by ${name}, on /proc`, { skip }, () => {
    it('refuses magic links, however they are reached', (t) => {
      const base = makeTree(t, [
        'link root -> /proc/self/root',
        'link cwd -> /proc/self/cwd',
        'link fd -> /dev/fd',
        'link proc -> /proc',
        'link pid -> /proc/thread-self',
      ]);
      const file = openSync('/etc/passwd', 'r');
      t.after(() => closeSync(file));
      const requests = [
        '/proc/self/root',
        '/proc/self/root/etc',
        '/proc/self/root/nope',
        `/proc/${process.pid}/root`,
        `/proc/${process.pid}/cwd`,
        '/proc/self/exe',
        '/proc/self/ns/mnt',
        `/proc/self/fd/${file}`,
        `/dev/fd/${file}`,
        `${base}/root`,
        `${base}/root/etc/passwd`,
        `${base}/root${base}`,
        `${base}/cwd`,
        `${base}/cwd/nope`,
        `${base}/fd/${file}`,
        `${base}/proc/self/cwd`,
        `${base}/pid/root`,
      ];
      for (const request of requests) {
        const resolved = resolvePath(request, walk);
        assert.equal(resolved.ok ? resolved.path : 'refused', 'refused', request);
      }
    });

    it('takes its ordinary links', (t) => {
      const base = makeTree(t, ['link proc -> /proc']);
      assert.equal(shown('/proc/self', walk), `/proc/${process.pid}`);
      assert.equal(shown(`${base}/proc/self/status`, walk), `/proc/${process.pid}/status`);
      assert.match(shown('/proc/mounts', walk), /^\/proc\/\d+\/mounts$/);
    });

    it('refuses what has been deleted and is only held open', (t) => {
      const base = makeTree(t, ['dir gone']);
      const fd = openSync(`${base}/gone`, 'r');
      t.after(() => closeSync(fd));
      rmdirSync(`${base}/gone`);
      assert.equal(resolvePath(`/proc/self/fd/${fd}`, walk).ok, false);
      assert.equal(walk.reach(`/proc/self/fd/${fd}`).ok, false);
    });
  });
}

describe('resolvePath()', () => {
  it('gives what lies there with its device, inode and birth (B085)', (t) => {
    const base = makeTree(t, ['dir d', 'link l -> d']);
    const [direct, byLink] = [resolvePath(`${base}/d`), resolvePath(`${base}/l`)];
    assert.ok(direct.ok && byLink.ok && direct.stat !== null && byLink.stat !== null);
    assert.equal(direct.stat.ino, byLink.stat.ino);
    assert.equal(direct.stat.isDirectory(), true);
    assert.equal(direct.stat.birthtimeNs > 0n, true);
  });

  it('gives one answer for all spellings of one directory', (t) => {
    const base = makeTree(t, ['dir d/e', 'link l -> d', 'link d/up -> ..', 'link d/self -> .']);
    const hop = fc.constantFrom('', '/.', '/', '/self', '/up/d', '/up/l', '/e/..', '/../d', '/../l');
    fc.assert(
      fc.property(fc.array(hop, { maxLength: 6 }), (hops) => {
        const resolved = resolvePath(join(base, 'd') + hops.join(''));
        assert.equal(resolved.ok && resolved.path, join(base, 'd'));
      }),
    );
  });

  it('says no where permission is missing', { skip: needsRoot }, (t) => {
    const refused = ['EACCES', 'EACCES', 'EACCES', 'EACCES', 'EACCES', 'ok'];
    assert.deepEqual(JSON.parse(runAsNobody(t, './resolve-refused.ts')), [refused, refused]);
  });

  it('does without openat2 where a sandbox forbids it', () => {
    const forbidden = () => {
      throw Object.assign(new Error('EPERM'), { code: 'EPERM', syscall: 'openat2' });
    };
    assert.equal(resolvePath('/', kernelWalk(forbidden)).ok, true);
  });
});

function onLinuxOnly(): { skip: string | false } {
  return { skip: onLinux };
}
