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

/** What was made of this text, by its first line. */
const compiledOf = (text: string) => text.slice('// '.length, text.indexOf('\n'));

/** A program of its own. `help()` gives what it prints of itself. */
function install(t: TestContext) {
  const base = makeTree(t, []);
  for (const part of ['bin', 'dist']) cpSync(ROOT + part, `${base}/${part}`, { recursive: true });
  const bundle = `${base}/dist/run.js`;
  const help = () => {
    const args = [`${base}/bin/rootsd`, 'run', '--help'];
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    assert.equal(stderr, '');
    return stdout;
  };
  return { bundle, compiled: `${base}/dist/${compiledOf(readFileSync(bundle, 'utf8'))}`, help };
}

describe('rootsd run, compiled at the build', () => {
  it('is taken by the Node that has built it', () => {
    const text = readFileSync(BUNDLE, 'utf8');
    const cachedData = readFileSync(`${ROOT}dist/${compiledOf(text)}`);
    assert.equal(new Script(text, { cachedData }).cachedDataRejected, false);
  });

  it('runs as text where that is missing, cut off, of another version or nonsense', (t) => {
    const { compiled, help } = install(t);
    assert.match(help(), /^rootsd run /);
    const whole = readFileSync(compiled);
    for (const spoil of [
      () => rmSync(compiled),
      () => writeFileSync(compiled, ''),
      () =>
        writeFileSync(
          compiled,
          whole.map((byte, at) => (at === 4 ? byte ^ 1 : byte)),
        ),
      () => truncateSync(compiled, whole.length / 2),
      () => appendFileSync(compiled, 'x'),
    ]) {
      writeFileSync(compiled, whole);
      spoil();
      assert.match(help(), /^rootsd run /);
    }
  });

  it('runs as the text that is there, though one of the same length was compiled before', (t) => {
    const { bundle, help } = install(t);
    const [first = '', ...code] = readFileSync(bundle, 'utf8').split('\n');
    const other = code.join('\n').replace('rootsd run [--server NAME]', 'ROOTSD RUN [--server NAME]');
    writeFileSync(bundle, `${first.replace(/[0-9a-f]{16}/, '0123456789abcdef')}\n${other}`);
    assert.match(help(), /^ROOTSD RUN /);
  });
});
