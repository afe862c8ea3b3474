// `rootsd run` as it was compiled at the build, which bin/rootsd loads: `npm run build` comes first.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { makeTree } from '../support/tree.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BUNDLE = `${ROOT}dist/run.js`;

/** A program of its own; what it prints of itself. */
function install(t: TestContext): { cache: string; help: () => string } {
  const base = makeTree(t, []);
  for (const part of ['bin', 'dist']) cpSync(ROOT + part, `${base}/${part}`, { recursive: true });
  const help = () => {
    const { stdout, stderr } = spawnSync(process.execPath, [`${base}/bin/rootsd`, 'run', '--help'], {
      encoding: 'utf8',
    });
    assert.equal(stderr, '');
    return stdout;
  };
  return { cache: `${base}/dist/run.js.cache`, help };
}

describe('rootsd run, compiled at the build', () => {
  it('is taken by the Node that has built it', () => {
    const cachedData = readFileSync(`${BUNDLE}.cache`);
    assert.equal(new Script(readFileSync(BUNDLE, 'utf8'), { cachedData }).cachedDataRejected, false);
  });

  it('runs as text where that is missing, cut off, of another version or nonsense', (t) => {
    const { cache, help } = install(t);
    assert.match(help(), /^rootsd run /);
    const whole = readFileSync(cache);
    for (const spoil of [
      () => rmSync(cache),
      () => writeFileSync(cache, ''),
      () =>
        writeFileSync(
          cache,
          whole.map((byte, at) => (at === 4 ? byte ^ 1 : byte)),
        ),
      () => truncateSync(cache, whole.length / 2),
      () => appendFileSync(cache, 'x'),
    ]) {
      writeFileSync(cache, whole);
      spoil();
      assert.match(help(), /^rootsd run /);
    }
  });
});
