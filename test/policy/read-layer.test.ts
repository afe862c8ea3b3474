import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { builtInLayer } from '../../src/policy/built-in.ts';
import { compileLayer } from '../../src/policy/compile-layer.ts';
import type { Prove } from '../../src/policy/prove-layer.ts';
import {
  type LayerRead,
  MAX_LAYER_BYTES,
  MAX_POLICY_BYTES,
  type ReadLayerOptions,
  readLayer,
} from '../../src/policy/read-layer.ts';
import { makeTree } from '../support/tree.ts';
import { ANA } from './shown-problems.ts';

const UPPER = [builtInLayer({ expansions: ANA, own: [] })];

function readIn(base: string, directory = 'p', more: Pick<ReadLayerOptions, 'prove'> = {}): Promise<LayerRead> {
  const trust = { uid: process.getuid?.() ?? 0, home: base };
  return readLayer({ layer: 'user', expansions: ANA, trust, upper: UPPER, directory: join(base, directory), ...more });
}

/** `CODE name` of each problem, `state name` of each listed file. */
function seen(read: LayerRead, base: string): { problems: string[]; listing: string[] } {
  if (read.state === 'absent') throw new Error('The layer is absent');
  const name = (path: string) => path.slice(join(base, 'p/').length);
  return {
    problems: read.problems.map(({ code, file }) => `${code} ${name(file)}`),
    listing: read.listing.map(({ state, path }) => `${state} ${name(path)}`),
  };
}

test('readLayer() reads policy files in the byte order of their names and lists what it ignores', async (t) => {
  const good = (id: string) => `version: 1\nroots: { ${id}: { path: /${id} } }\n`;
  const base = makeTree(t, [
    `file p/b.yaml ${good('b')}`,
    `file p/10-x_y.yaml ${good('x')}`,
    `file p/B.yaml ${good('B')}`,
    `file p/9.yaml ${good('nine')}`,
    'file p/.hidden.yaml [',
    'file p/a.yaml~ [',
    'file p/a.yaml.bak [',
    'file p/a.yaml.new [',
    'file p/.a.yaml.swp [',
    'file p/a.yaml.dpkg-old [',
    'file p/a.yaml.rpmsave [',
    'file p/README [',
    'dir p/sub',
    'file p/sub/c.yaml [',
  ]);
  const read = await readIn(base);
  assert.equal(read.state, 'good');
  assert.deepEqual(read.state === 'good' && read.policy.roots.map(({ name }) => name), ['x', 'nine', 'B', 'b']);
  assert.deepEqual(seen(read, base), {
    problems: [],
    listing: [
      'ok 10-x_y.yaml',
      'ok 9.yaml',
      'ok B.yaml',
      'ok b.yaml',
      'ignored .a.yaml.swp',
      'ignored .hidden.yaml',
      'ignored README',
      'ignored a.yaml.bak',
      'ignored a.yaml.dpkg-old',
      'ignored a.yaml.new',
      'ignored a.yaml.rpmsave',
      'ignored a.yaml~',
      'ignored sub',
    ],
  });
});

test('readLayer() refuses a file that looks like a policy and is not named like one', async (t) => {
  const names = ['a.yml', 'a.YAML', 'a.json', 'a b.yaml', '_a.yaml', '-a.yaml', 'a.b.yaml', 'ä.yaml', 'a.Yml'];
  for (const name of names) {
    const base = makeTree(t, ['file p/ok.yaml version: 1\n']);
    writeFileSync(join(base, 'p', name), 'version: 1\n');
    const read = await readIn(base);
    assert.equal(read.state, 'broken', name);
    assert.deepEqual(seen(read, base), {
      problems: [`POLICY_FILE_NAME ${name}`],
      listing: ['ok ok.yaml', `broken ${name}`],
    });
  }
});

test('readLayer() tells absent from wrong', async (t) => {
  const base = makeTree(t, ['file f x', 'link gone -> nowhere', 'dir empty', 'link there -> empty']);
  assert.deepEqual(await readIn(base, 'none'), { state: 'absent' });
  assert.deepEqual(await readIn(base, 'none/below'), { state: 'absent' });
  assert.deepEqual(await readIn(base, 'gone'), { state: 'absent' });
  const file = await readIn(base, 'f');
  assert.deepEqual(file.state === 'broken' && file.problems.map(({ code }) => code), ['POLICY_UNREADABLE']);
  const empty = await readIn(base, 'empty');
  assert.ok(empty.state === 'good' && empty.texts.length === 0 && empty.policy.rules.length === 0);
  assert.equal((await readIn(base, 'there')).state, 'good');
});

test('readLayer() says of every file what is wrong with it, in one go', async (t) => {
  const base = makeTree(t, [
    'file p/a.yaml version: 1\nrulez: []\n',
    'file p/b.yaml version: 1\nrules: [{ id: r, allow: [x] }]\n',
    'fifo p/c.yaml',
    'dir p/d.yaml',
    'link p/e.yaml -> nowhere',
    `file p/f.yaml ${'#'.repeat(MAX_POLICY_BYTES + 1)}`,
    'file p/h.yaml version: 1\n',
  ]);
  writeFileSync(join(base, 'p/g.yaml'), Buffer.from([0x61, 0xff]));
  chmodSync(join(base, 'p/h.yaml'), 0o666);
  const read = await readIn(base);
  assert.equal(read.state, 'broken');
  // b.yaml is not said to name an unknown root: one of the files that cannot be read may declare it.
  assert.deepEqual(seen(read, base).problems, [
    'TRUST_NOT_A_FILE c.yaml',
    'TRUST_NOT_A_FILE d.yaml',
    'POLICY_UNREADABLE e.yaml',
    'FILE_TOO_LARGE f.yaml',
    'YAML_ENCODING g.yaml',
    'TRUST_OTHERS_WRITE h.yaml',
    'SCHEMA_UNKNOWN_KEY a.yaml',
  ]);
  assert.deepEqual(seen(read, base).listing.slice(0, 3), ['broken a.yaml', 'ok b.yaml', 'broken c.yaml']);
});

test('readLayer() takes up nothing of a layer that has more bytes than it may, and says so of its directory', async (t) => {
  const base = makeTree(t, ['dir p']);
  const files = MAX_LAYER_BYTES / MAX_POLICY_BYTES;
  for (let i = 0; i < files; i++) writeFileSync(join(base, `p/f${i}.yaml`), '#'.repeat(MAX_POLICY_BYTES));
  const proven: number[] = [];
  const prove: Prove = (input) => {
    proven.push(input.files.length);
    return { policy: null, problems: [], results: [] };
  };
  assert.deepEqual(seen(await readIn(base, 'p', { prove }), base).problems, []);
  writeFileSync(join(base, 'p/z.yaml'), '#');
  const read = await readIn(base, 'p', { prove });
  assert.equal(read.state, 'broken');
  assert.deepEqual(
    [read.problems.map(({ code, file }) => [code, file]), proven],
    [[['POLICY_LAYER_TOO_LARGE', join(base, 'p')]], [files]],
  );
});

test('readLayer() uses nothing of a layer of which one file is wrong', async (t) => {
  const base = makeTree(t, ['file p/a.yaml version: 1\nroots: { a: { path: /a } }\n', 'file p/b.yaml version: 2\n']);
  const read = await readIn(base);
  assert.equal(read.state, 'broken');
  assert.ok(!('policy' in read));
});

test('readLayer() gives the texts from which compileLayer() makes the same policy', async (t) => {
  const text = '\u{feff}version: 1\r\nroots: { a: { path: ~/ä } }\r\n';
  const base = makeTree(t, [`file p/a.yaml ${text}`]);
  const read = await readIn(base);
  assert.ok(read.state === 'good');
  assert.equal(read.texts[0]?.text, text);
  const again = compileLayer({ layer: 'user', files: read.texts, expansions: ANA, upper: UPPER });
  assert.deepEqual(again.policy, read.policy);
});

test('readLayer() reads a large file of multi-byte characters in one piece', async (t) => {
  const title = 'äöü€😀'.repeat(4_000);
  const roots = Array.from({ length: 5 }, (_, i) => `  r${i}: { path: /r${i}, title: "${title}" }\n`).join('');
  const base = makeTree(t, [`file p/a.yaml version: 1\nroots:\n${roots}`]);
  const read = await readIn(base);
  assert.ok(read.state === 'good');
  assert.deepEqual(
    read.policy.roots.map((root) => root.title === title),
    Array(5).fill(true),
  );
});
