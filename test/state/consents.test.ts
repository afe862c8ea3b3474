import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { RootsError } from '../../src/core/errors.ts';
import { openConsentStore } from '../../src/state/consents.ts';
import type { Log } from '../../src/system/log.ts';
import type { FakeClock } from '../support/clock.ts';
import { ASKER, grantOf, keptOf, keyOf, START } from '../support/consents.ts';
import { makeEntry, temporaryDirectory } from '../support/tree.ts';

const OWNER = { uid: process.getuid?.() ?? -1 };
const FULL = {
  lasting: { ms: START.wallMs + 5, at: START },
  grants: [grantOf(), grantOf({ id: 'g2', scope: 'always', root: 'größe \u202e "x"', key: keyOf({ uid: 0 }) })],
  refusals: [
    { key: keyOf(), asker: ASKER, root: 'a', access: 'read-only', count: 2, since: '2026-01-01T00:00:00.000Z' },
  ],
  history: [
    {
      time: '2026-01-01T00:00:00.000Z',
      event: 'approved',
      id: 'g1',
      asker: ASKER,
      root: 'a',
      path: '/home/ana/a',
      access: 'read-only',
      rule: 'r',
      scope: '8h',
      channel: 'command',
      uid: 1000,
      note: 'for\nnow',
    },
  ],
} as const;

function storeIn(t: TestContext, clock?: FakeClock) {
  const directory = temporaryDirectory(t);
  const path = join(directory, 'consents.json');
  const said: [string, RootsError][] = [];
  const log: Log = (_level, event, fields) => said.push([event, fields?.error as RootsError]);
  const open = () => openConsentStore({ path, owner: OWNER, log, ...(clock === undefined ? {} : { clock }) });
  return { directory, path, said, open };
}

test('a store gives back what it was given, also to the next start', async (t) => {
  const { open, path, said } = storeIn(t);
  const store = await open();
  assert.equal(store.kept, null);
  assert.equal(await store.save(FULL, { isNarrower: false }), true);
  await store.close();
  assert.deepEqual((await open()).kept, FULL);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(said, []);
});

test('a person can read the file: a line for each grant, refusal and answer, and nothing hidden', async (t) => {
  const { open, path } = storeIn(t);
  await (await open()).save(FULL, { isNarrower: false });
  const lines = readFileSync(path, 'utf8').split('\n');
  assert.equal(lines.filter((line) => line.includes('"scope":')).length, 3);
  assert.match(lines.join(), /größe \\u202e/);
});

test('what is damaged or could be of others gives nothing, is reported and lies aside', async (t) => {
  const { open, path, said, directory } = storeIn(t);
  await (await open()).save(FULL, { isNarrower: false });
  const good = readFileSync(path, 'utf8');
  const rewrite = (text: string) => writeFileSync(path, text, { mode: 0o600 });
  const rows: [string, () => void, RegExp][] = [
    ['empty', () => rewrite(''), /it is not JSON$/],
    ['cut off', () => rewrite(good.slice(0, 300)), /it is not JSON$/],
    ['one word changed', () => rewrite(good.replace('read-only', 'read-write')), /digest does not fit/],
    ['a longer scope', () => rewrite(good.replace('"8h"', '"24h"')), /digest does not fit/],
    ['of another version', () => rewrite(good.replace('"version":1', '"version":2')), /its version is not 1$/],
    ['a list', () => rewrite('[]'), /its version is not 1$/],
    ['a grant without a key', () => rewrite(good.replace('"key":', '"kez":')), /not the form/],
    ['writable by others', () => chmodSync(path, 0o602), /others can write it/],
    ['a link', () => makeEntry(directory, 'link consents.json -> other.json'), /it is a link$/],
    ['a directory', () => makeEntry(directory, 'dir consents.json'), /not a regular file$/],
  ];
  for (const [what, damage, message] of rows) {
    rmSync(path, { recursive: true, force: true });
    rmSync(`${path}.refused`, { recursive: true, force: true });
    if (!/^a (link|directory)$/.test(what)) rewrite(good);
    damage();
    const { kept, refusal, save } = await open().then((store) =>
      Object.assign(store, { save: store.save.bind(store) }),
    );
    assert.equal(kept, null, what);
    assert.match(refusal?.message ?? '', message, what);
    assert.deepEqual([said.pop()?.[0], said.length], ['consents refused', 0], what);
    assert.ok(readdirSync(directory).includes('consents.json.refused'), what);
    assert.equal(await save(FULL, { isNarrower: false }), true, what);
    assert.deepEqual((await open()).kept, FULL, what);
  }
});

test('save() calls of one moment are kept all, the last one as it is', async (t) => {
  const { open } = storeIn(t);
  const store = await open();
  const grants = Array.from({ length: 10 }, (_, i) => grantOf({ id: `g${i}` }));
  const kept = await Promise.all(
    grants.map((_, i) => store.save(keptOf(...grants.slice(0, i + 1)), { isNarrower: false })),
  );
  assert.deepEqual(kept, Array(10).fill(true));
  assert.deepEqual((await open()).kept?.grants, grants);
});

test('save() that fails says so, leaves no grant that was taken back, and no longer than until that could be written', (t) => {
  const program = fileURLToPath(new URL('../support/full-disk-consents.ts', import.meta.url));
  const argv = ['--mount', process.execPath, '--import', 'tsx', program, temporaryDirectory(t)];
  const { status, stdout, stderr } = spawnSync('unshare', argv, { encoding: 'utf8' });
  if (/unshare failed|not permitted/.test(stderr)) return t.skip('needs mount namespaces');
  assert.equal(status, 0, stderr);
  assert.deepEqual(stdout.trim().split('\n'), [
    'true 2 0',
    'false 2 1',
    'false none 1',
    'true 1 0',
    'false 1 1',
    'true 0 0',
  ]);
});

test('what would be too large for the next start is not written, and what was kept stays', async (t) => {
  const { open, said } = storeIn(t);
  const store = await open();
  await store.save(FULL, { isNarrower: false });
  const facts = ['x'.repeat(8 * 1_024 * 1_024)];
  const grants = Array.from({ length: 8 }, (_, i) => grantOf({ id: `g${i}`, key: keyOf({ facts }) }));
  assert.equal(await store.save(keptOf(...grants), { isNarrower: false }), false);
  assert.match(String(said.pop()?.[1].cause), /it would have 671\d{5} bytes/);
  await store.close();
  assert.deepEqual((await open()).kept, FULL);
});

test('ten thousand grants are kept and load', async (t) => {
  const { open } = storeIn(t);
  const grants = Array.from({ length: 10_000 }, (_, i) => grantOf({ id: `g${i}`, key: keyOf({ path: `/p/${i}` }) }));
  await (await open()).save(keptOf(...grants), { isNarrower: false });
  assert.deepEqual((await open()).kept?.grants, grants);
});

test('a process that is killed at any step leaves every grant whole or not at all', async (t) => {
  const steps = fileURLToPath(new URL('../support/dies-at-step.mjs', import.meta.url));
  const program = fileURLToPath(new URL('../support/killed-consents.ts', import.meta.url));
  const runAt = (directory: string, step: number, stepsFile = '') =>
    spawnSync(process.execPath, ['--import', 'tsx', '--import', steps, program, directory], {
      env: { ...process.env, DIE_BELOW: directory, DIE_AT: String(step), STEPS_FILE: stepsFile },
    });
  const outcomes = new Set<number>();
  const counted = storeIn(t);
  const stepsFile = join(temporaryDirectory(t), 'steps');
  assert.equal(runAt(counted.directory, 0, stepsFile).status, 0);
  const count = readFileSync(stepsFile, 'utf8').trim().split('\n').length;
  assert.ok(count >= 8, `${count} steps`);
  for (let step = 1; step <= count; step += 1) {
    const { directory, open, said } = storeIn(t);
    assert.equal(runAt(directory, step).signal, 'SIGKILL', `step ${step}`);
    const { kept } = await open();
    assert.deepEqual(said, [], `step ${step}`);
    const grants = kept?.grants ?? [];
    assert.deepEqual(grants, [grantOf(), grantOf({ id: 'g2' })].slice(0, grants.length), `step ${step}`);
    outcomes.add(grants.length);
    assert.deepEqual(
      readdirSync(directory).filter((name) => name !== 'consents.json'),
      [],
      'what was left is removed',
    );
  }
  assert.deepEqual([...outcomes].sort(), [0, 1, 2]);
  assert.ok(!existsSync(`${counted.path}.refused`));
});
