import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import {
  controlSocketOf,
  describeSearch,
  findSockets,
  type SearchOptions,
  whyRefused,
} from '../../src/client/find-socket.ts';
import { temporaryDirectory } from '../support/tree.ts';

const OTHER_UID = 65_534;
const uid = process.getuid?.() ?? 0;
const needsRoot = uid === 0 ? false : 'gives files to another user, which only root can';

/** Listens at a path, whose directory is made. */
async function listenAt(t: TestContext, path: string): Promise<string> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  chmodSync(path, 0o600);
  t.after(() => server.close());
  return path;
}

function places(base: string): SearchOptions {
  return { runtimeVariable: `${base}/xdg`, uid, stateDirectory: `${base}/state`, run: `${base}/run` };
}

describe('findSockets()', () => {
  it('looks at all places in order, and says why it refuses those that it does', async (t) => {
    const base = temporaryDirectory(t);
    mkdirSync(`${base}/state`);
    writeFileSync(`${base}/state/endpoint`, `${base}/elsewhere/peers.sock\n`);
    const all = [
      `${base}/xdg/rootsd/rootsd.sock`,
      `${base}/run/user/${uid}/rootsd/rootsd.sock`,
      `${base}/elsewhere/peers.sock`,
      `${base}/state/run/rootsd.sock`,
      `${base}/run/rootsd/rootsd.sock`,
    ];
    const none = findSockets(places(base));
    assert.deepEqual(none, { usable: [], refused: all.map((path) => ({ path, why: 'there is none' })) });
    assert.ok(describeSearch(none).startsWith(`"${all[0]}": there is none; `));
    for (const path of all) await listenAt(t, path);
    assert.deepEqual(findSockets(places(base)), { usable: all, refused: [] });
  });

  it('looks nowhere else where a socket was named', async (t) => {
    const base = temporaryDirectory(t);
    await listenAt(t, `${base}/xdg/rootsd/rootsd.sock`);
    const { usable, refused } = findSockets({ ...places(base), explicit: `${base}/named.sock` });
    assert.deepEqual([usable, refused.map(({ path }) => path)], [[], [`${base}/named.sock`]]);
  });

  it('takes a runtime directory from the uid where the variable is missing or relative', async (t) => {
    const base = temporaryDirectory(t);
    const path = await listenAt(t, `${base}/run/user/${uid}/rootsd/rootsd.sock`);
    for (const runtimeVariable of [undefined, '', 'relative']) {
      assert.deepEqual(findSockets({ ...places(base), runtimeVariable }).usable, [path]);
    }
  });

  it('does without a state directory', (t) => {
    const base = temporaryDirectory(t);
    assert.equal(findSockets({ ...places(base), stateDirectory: null }).refused.length, 3);
  });

  /** What makes an endpoint file one that is not believed. */
  const ENDPOINTS: readonly (readonly [string, (file: string, target: string) => void])[] = [
    [
      'is writable by others',
      (file, target) => {
        writeFileSync(file, target);
        chmodSync(file, 0o666);
      },
    ],
    [
      'is a link',
      (file, target) => {
        writeFileSync(`${file}.real`, target);
        symlinkSync(`${file}.real`, file);
      },
    ],
    ['holds a relative path', (file) => writeFileSync(file, 'peers.sock')],
    ['is empty', (file) => writeFileSync(file, '')],
    ['is a directory', (file) => mkdirSync(file)],
  ];
  for (const [what, make] of ENDPOINTS) {
    it(`does not believe an endpoint file that ${what}`, async (t) => {
      const base = temporaryDirectory(t);
      mkdirSync(`${base}/state`);
      make(`${base}/state/endpoint`, await listenAt(t, `${base}/elsewhere/peers.sock`));
      const { usable, refused } = findSockets(places(base));
      assert.deepEqual([usable.length, refused.length], [0, 4]);
    });
  }
});

describe('whyRefused()', () => {
  it('finds nothing wrong with a socket of ours', async (t) => {
    const base = temporaryDirectory(t);
    assert.equal(whyRefused(await listenAt(t, `${base}/s`), uid), null);
  });

  for (const mode of [0o777, 0o1777, 0o770, 0o707]) {
    it(`refuses a socket in a directory of mode ${mode.toString(8)}`, async (t) => {
      const path = await listenAt(t, `${temporaryDirectory(t)}/d/s`);
      chmodSync(dirname(path), mode);
      assert.equal(whyRefused(path, uid), 'its directory is writable by others');
    });
  }

  it('refuses what belongs to somebody else, the socket or its directory', { skip: needsRoot }, async (t) => {
    const path = await listenAt(t, `${temporaryDirectory(t)}/d/s`);
    assert.equal(whyRefused(path, OTHER_UID), null, 'what is root’s is good for all');
    chownSync(path, OTHER_UID, OTHER_UID);
    assert.match(whyRefused(path, 0) ?? '', /belongs to uid 65534, it must belong to root/);
    assert.equal(whyRefused(path, OTHER_UID), null);
    chownSync(dirname(path), OTHER_UID, OTHER_UID);
    chownSync(path, 0, 0);
    assert.match(whyRefused(path, 0) ?? '', /its directory belongs to uid 65534/);
  });

  it("takes a socket that all may write only where it is root's", { skip: needsRoot }, async (t) => {
    const path = await listenAt(t, `${temporaryDirectory(t)}/d/s`);
    chmodSync(path, 0o666);
    assert.equal(whyRefused(path, uid), null);
    chownSync(path, OTHER_UID, OTHER_UID);
    assert.match(whyRefused(path, OTHER_UID) ?? '', /writable by others/);
  });

  it('refuses what is no socket, and paths that cannot be one', (t) => {
    const base = temporaryDirectory(t);
    writeFileSync(`${base}/f`, '');
    assert.match(whyRefused(`${base}/f`, uid) ?? '', /not a socket/);
    assert.match(whyRefused('relative', uid) ?? '', /not an absolute path/);
    assert.match(whyRefused('/a\0b', uid) ?? '', /NUL/);
    assert.match(whyRefused(`/${'é'.repeat(60)}`, uid) ?? '', /has 121 bytes, the limit is 10[37]/);
    assert.match(whyRefused(`${base}/f/below`, uid) ?? '', /ENOTDIR/);
  });
});

describe('controlSocketOf()', () => {
  it('lies beside the socket of the peers, whatever that is called', () => {
    assert.equal(controlSocketOf(join('/x', 'any.sock')), '/x/control.sock');
  });
});
