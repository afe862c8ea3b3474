import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { type Found, Places } from '../../../src/run/guard/places.ts';
import { ManualTimer } from '../../support/manual-timer.ts';
import { mountLine } from '../../support/mount-line.ts';
import { makeTree } from '../../support/tree.ts';

/** Answers nothing. */
const HANGING = 'process.stdin.resume(); setInterval(() => undefined, 1e9);';

interface Setup {
  readonly base: string;
  readonly timer: ManualTimer;
  readonly places: Places;
  /** Resolves when the answer is there. */
  readonly answered: () => Promise<void>;
}

/** `net` is on a mount that may hang, for all that the mount table says. */
function setUp(t: TestContext, script?: string): Setup {
  const base = makeTree(t, ['file net/d/f x', 'link net/l -> d', 'link way -> net/d', 'file here/f x']);
  writeFileSync(`${base}/mounts`, `${mountLine('1 0 / ext4')}\n${mountLine(`2 1 ${base}/net fuse.sshfs`)}\n`);
  if (script !== undefined) writeFileSync(`${base}/helper.mjs`, script);
  const timer = new ManualTimer();
  const wake = { resolve: (): void => undefined };
  const places = new Places({
    timer: timer.after,
    onAnswer: () => wake.resolve(),
    mountInfo: `${base}/mounts`,
    ...(script === undefined ? {} : { script: `${base}/helper.mjs` }),
  });
  t.after(() => places.close());
  const answered = (): Promise<void> =>
    new Promise((resolve) => {
      wake.resolve = resolve;
      // The helper keeps no process alive: in `run` the host does.
      const alive = setInterval(() => undefined, 1_000);
      t.after(() => clearInterval(alive));
    });
  return { base, timer, places, answered };
}

const found = (path: string, isThere = true): Found => ({ ok: true, path, isThere }) as Found;

describe('Places', () => {
  it('finds at once what lies where nothing hangs', (t) => {
    const { base, places } = setUp(t);
    assert.deepEqual(places.find(`${base}/here/f`), found(`${base}/here/f`));
    assert.deepEqual(places.find(`${base}/here/f/x`), { ok: false, isSilent: false });
  });

  it('has what may hang looked at by another process, all of one message together', async (t) => {
    const { base, places, answered } = setUp(t);
    const paths = ['net/l/f', 'way/new', 'net/d/f/x'].map((path) => `${base}/${path}`);
    const first = answered();
    assert.deepEqual(
      paths.map((path) => places.find(path)),
      ['wait', 'wait', 'wait'],
    );
    await first;
    const expected = [found(`${base}/net/d/f`), found(`${base}/net/d/new`, false), { ok: false, isSilent: false }];
    assert.deepEqual(
      paths.map((path) => places.find(path)),
      expected,
    );
    places.forgetAnswers();
    assert.equal(places.find(paths[0] ?? ''), 'wait');
  });

  it('gives up after 2 s, asks nothing for 5 s nor while what hangs lives, and then asks again', async (t) => {
    const { base, timer, places } = setUp(t, HANGING);
    const path = `${base}/net/d/f`;
    assert.equal(places.find(path), 'wait');
    timer.advance(2_000);
    assert.deepEqual(places.find(path), { ok: false, isSilent: true });
    places.forgetAnswers();
    assert.deepEqual(places.find(path), { ok: false, isSilent: true });
    assert.deepEqual(places.find(`${base}/here/f`), found(`${base}/here/f`));
    timer.advance(5_000);
    // It has been killed, and this process has not heard of its end yet.
    assert.deepEqual(places.find(path), { ok: false, isSilent: true });
    while (places.find(path) !== 'wait') await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it('takes a helper that ends for one that does not answer', async (t) => {
    const { base, places, answered } = setUp(t, '');
    const end = answered();
    assert.equal(places.find(`${base}/net/d`), 'wait');
    await end;
    assert.deepEqual(places.find(`${base}/net/d`), { ok: false, isSilent: true });
  });

  it('sees a mount that comes later', (t) => {
    const { base, timer, places } = setUp(t, HANGING);
    const path = `${base}/here/f`;
    assert.notEqual(places.find(path), 'wait');
    writeFileSync(`${base}/mounts`, `${mountLine('1 0 / ext4')}\n${mountLine(`2 1 ${base}/here nfs4`)}\n`);
    timer.advance(1_000);
    assert.equal(places.find(path), 'wait');
  });
});
