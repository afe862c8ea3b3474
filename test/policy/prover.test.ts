import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import type { LayerInput } from '../../src/policy/compile-layer.ts';
import { proveLayer } from '../../src/policy/prove-layer.ts';
import { Prover, type ProverOptions, SMALL_LAYER } from '../../src/policy/prover.ts';
import { largePolicy } from '../support/large-policy.ts';
import { mutate, mutations, SYSTEM, USER } from '../support/mutated-policy.ts';
import { EXPANSIONS, layerFrom } from '../support/policy.ts';
import { temporaryDirectory } from '../support/tree.ts';

const BUILT = new URL('../../dist/chunks/prover-thread.js', import.meta.url);
const LARGE = largePolicy(100);
assert.ok(LARGE.length > SMALL_LAYER);

function openProver(t: TestContext, options: ProverOptions = {}): Prover {
  const prover = new Prover({ script: BUILT, ...options });
  t.after(() => prover.close());
  return prover;
}

/** A thread that does this with what it is asked. */
function threadThat(t: TestContext, does: string): URL {
  const path = join(temporaryDirectory(t), 'thread.mjs');
  writeFileSync(
    path,
    `import { parentPort } from 'node:worker_threads';\nparentPort.on('message', (message) => { ${does} });\n`,
  );
  return pathToFileURL(path);
}

/** Its problems are the lengths of what it was told. */
const SAYS_WHAT_IT_WAS_TOLD = `
  globalThis.told = [...(globalThis.told ?? []), JSON.stringify(message).length];
  if (message.kind !== 'prove') return;
  parentPort.postMessage(['{"isGood":false,"rest":{}}', JSON.stringify(['problems', globalThis.told]), '["results",[]]']);
  globalThis.told = [];`;

function layer(text: string, more: Partial<LayerInput> = {}): LayerInput {
  return { layer: 'user', files: [{ path: '/p/a.yaml', text }], expansions: EXPANSIONS, upper: [], ...more };
}

/** What goes wrong with a layer that is proven so; it is the layer's only problem. */
async function failureOf(prover: Prover): Promise<string> {
  const { policy, problems, results } = await prover.prove(layer(LARGE));
  assert.deepEqual([policy, problems.length, results], [null, 1, []]);
  const [{ code, severity, file, message } = assert.fail()] = problems;
  assert.deepEqual([code, severity, file], ['POLICY_NOT_PROVEN', 'error', '/p']);
  return message;
}

/** Threads of this process. */
function threads(): number {
  return readdirSync('/proc/self/task').length;
}

describe('Prover', () => {
  // Starts the threads that the process has anyway.
  before(() => stat('/'));

  it('gives what proveLayer() gives, whatever the text', async (t) => {
    const prover = openProver(t);
    const upper = [layerFrom(SYSTEM.replace('version: 1\n', ''), 'system')];
    const filling = `\n${'# as much as nobody writes\n'.repeat(SMALL_LAYER / 20)}`;
    const random = fc.asyncProperty(mutations, fc.boolean(), async (changes, isIncomplete) => {
      const text = changes.reduce(mutate, USER) + filling;
      const input = layer(text, { upper, isIncomplete, listeners: ['git'] });
      assert.deepEqual(await prover.prove(input), proveLayer(input));
    });
    await fc.assert(random, { numRuns: 100 });
    const whole = layer(LARGE, { upper });
    const proven = await prover.prove(whole);
    assert.deepEqual(proven, proveLayer(whole));
    assert.deepEqual([proven.policy?.rules.length, proven.results.map(({ ok }) => ok)], [100, [true, true]]);
  });

  it('lets others have their turn while a large layer is read', async (t) => {
    const prover = openProver(t);
    let turns = 0;
    let isRead = false;
    const reading = prover.prove(layer(largePolicy(4_100))).then(({ policy }) => {
      isRead = true;
      return policy?.rules.length;
    });
    for (; !isRead; turns++) await turn();
    assert.equal(await reading, 4_100);
    assert.ok(turns > 100, `${turns} turns`);
  });

  it('starts no thread for a small layer', async (t) => {
    const prover = openProver(t, { script: new URL('file:///nowhere.js') });
    const { policy } = await prover.prove(layer(USER, { upper: [layerFrom(SYSTEM.slice(11), 'system')] }));
    assert.equal(policy?.rules.length, 4);
  });

  it('counts the layers above: under a large one a small one is large', async (t) => {
    const atFirst = threads();
    const prover = openProver(t, { idleMs: 0 });
    const { policy: above } = await prover.prove(layer(LARGE, { layer: 'system' }));
    assert.ok(above);
    while (threads() > atFirst) await turn();
    const tests = 'tests: [{ claims: x, root: project-0, expect: deny }]';
    const small = layer(`version: 1\nrules: [{ id: none, deny: [project-0] }]\n${tests}\n`, { upper: [above] });
    const proving = prover.prove(small);
    while (threads() <= atFirst) await turn();
    const proven = await proving;
    assert.deepEqual(proven, proveLayer(small));
    assert.deepEqual(
      proven.results.map(({ ok }) => ok),
      [true],
    );
  });

  it('tells a thread of the layers above in pieces, and of those that it holds nothing', async (t) => {
    const prover = openProver(t, { script: threadThat(t, SAYS_WHAT_IT_WAS_TOLD) });
    const { policy: above } = proveLayer(layer(largePolicy(1_000), { layer: 'system' }));
    assert.ok(above);
    const told = async (text: string) =>
      (await prover.prove(layer(text, { upper: [above] }))).problems as unknown as number[];
    const first = await told(LARGE);
    assert.ok(first.length > 6, JSON.stringify(first));
    assert.ok(Math.max(...first) < 100_000, JSON.stringify(first));
    // The file, and what to do with it.
    assert.equal((await told(LARGE)).length, 2);
  });

  it('proves under what the thread holds, and under what it has forgotten or never had', async (t) => {
    const prover = openProver(t);
    const builtIn = proveLayer(layer('version: 1\nceiling: [~/**]\n', { layer: 'built-in' })).policy;
    assert.ok(builtIn);
    const system = [largePolicy(200), largePolicy(201)].map((text) =>
      layer(text, { layer: 'system', upper: [builtIn] }),
    );
    const [older, newer] = [await prover.prove(system[0] as LayerInput), await prover.prove(system[1] as LayerInput)];
    assert.ok(older.policy && newer.policy);
    const text =
      'version: 1\nrules: [{ id: r, allow: [project-1] }]\ntests: [{ claims: x, root: project-0, expect: deny }]\n';
    for (const above of [newer.policy, older.policy, older.policy, newer.policy]) {
      const input = layer(text, { upper: [builtIn, above] });
      assert.deepEqual(await prover.prove(input), proveLayer(input));
    }
  });

  it('fails closed where the thread ends, throws, cannot start, takes too much memory or never answers', async (t) => {
    const thread = (does: string) => ({ script: threadThat(t, does) });
    const rows: [ProverOptions, RegExp][] = [
      [thread('process.exit(7)'), /"\/p": the thread that reads them ended with status 7$/],
      [thread("throw new Error('out of luck')"), /the thread that reads them failed: out of luck$/],
      [{ script: new URL('file:///nowhere.js') }, /the thread that reads them failed: Cannot find module/],
      [
        { ...thread('const all = []; for (;;) all.push([all.length])'), heapMiB: 20 },
        /takes more than 20 MiB of memory$/,
      ],
      [{ ...thread('for (;;);'), deadlineMs: 100 }, /takes more than 0\.1 s$/],
    ];
    const atFirst = threads();
    for (const [options, expected] of rows) {
      const prover = openProver(t, options);
      assert.match(await failureOf(prover), expected);
      // And again, with a thread of its own.
      assert.match(await failureOf(prover), expected);
      await prover.close();
    }
    assert.equal(threads(), atFirst);
  });

  it('proves one layer after the other, also after one that failed', async (t) => {
    const prover = openProver(t);
    const broken = layer(`version: 1\nrules: [{ id: x, allow: [nowhere] }]\n${'#\n'.repeat(SMALL_LAYER)}`);
    const [first, second] = await Promise.all([prover.prove(broken), prover.prove(layer(LARGE))]);
    assert.deepEqual([first.policy, first.problems.map(({ code }) => code)], [null, ['POLICY_UNKNOWN_ROOT']]);
    assert.equal(second.policy?.rules.length, 100);
  });

  it('lets go of a thread that has nothing to do, and starts another', async (t) => {
    const atFirst = threads();
    const prover = openProver(t, { idleMs: 0 });
    for (const _ of [1, 2]) {
      assert.equal((await prover.prove(layer(LARGE))).policy?.rules.length, 100);
      while (threads() > atFirst) await turn();
    }
  });

  it('ends at once when it is closed, and says nothing more', async (t) => {
    const atFirst = threads();
    const prover = openProver(t, { script: threadThat(t, 'for (;;);') });
    let settled = false;
    const settle = () => {
      settled = true;
    };
    prover.prove(layer(LARGE)).then(settle, settle);
    while (threads() === atFirst) await turn();
    await prover.close();
    assert.equal(threads(), atFirst);
    prover.prove(layer(LARGE)).then(settle, settle);
    await turn();
    assert.equal(settled, false);
  });
});
