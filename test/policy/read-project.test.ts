import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { patternPath } from '../../src/core/pattern.ts';
import { checkProject, readProject } from '../../src/policy/read-project.ts';
import { makeTree } from '../support/tree.ts';

test('readProject() finds nothing where there is no file', async (t) => {
  const base = makeTree(t, ['dir a', 'file f x']);
  assert.equal(await readProject(join(base, 'a')), undefined);
  assert.equal(await readProject(join(base, 'f')), undefined);
  assert.equal(await readProject(join(base, 'none')), undefined);
});

test('readProject() reads what narrows and puts its paths inside the root', async (t) => {
  const base = makeTree(t, []);
  // The root's own name holds what is special in a policy.
  const root = join(base, 'a*${user}~');
  mkdirSync(root);
  writeFileSync(
    join(root, '.rootsd.yaml'),
    'version: 1\naccess: read-only\nask: true\ndeny:\n  - secrets\n  - ./b/*/key\n  - c/**\n',
  );
  const project = await readProject(root);
  assert.ok(project?.state === 'good');
  assert.deepEqual([project.access, project.ask], ['read-only', true]);
  assert.deepEqual(
    project.deny.map(({ pattern }) => patternPath(pattern)),
    [`${root}/secrets`, `${root}/b/*/key`, `${root}/c`],
  );
  assert.deepEqual(project.deny[1]?.source, { layer: 'project', file: join(root, '.rootsd.yaml'), line: 6, column: 5 });
});

test('readProject() asks nothing and denies nothing by default', async (t) => {
  const base = makeTree(t, ['file .rootsd.yaml version: 1\n']);
  assert.deepEqual(await readProject(base), { state: 'good', file: join(base, '.rootsd.yaml'), ask: false, deny: [] });
});

test('readProject() calls a file broken that is not exactly right', async (t) => {
  const rows: readonly (readonly [line: string, why: RegExp])[] = [
    ['file .rootsd.yaml ', /nothing but blanks/],
    ['file .rootsd.yaml version: 1\nallow: [x]\n', /line 2: Key "allow" is not known/],
    ['file .rootsd.yaml version: 1\naccess: read-write\n', /line 2: "access" is "read-write"/],
    ['file .rootsd.yaml version: 1\ndeny: x\n', /line 2: "deny" is the text "x": it must be a list/],
    ['file .rootsd.yaml version: 1\ndeny: [/etc]\n', /line 2: .*must be relative/],
    ['file .rootsd.yaml version: 1\ndeny: ["~/x"]\n', /line 2: .*must be relative/],
    ['file .rootsd.yaml version: 1\ndeny: ["x/${home}"]\n', /line 2: .*must be relative/],
    ['file .rootsd.yaml version: 1\ndeny: [a/../b]\n', /line 2: .*".." component/],
    ['file .rootsd.yaml version: 1\nask: &x true\n', /line 2: Anchor/],
    [`file .rootsd.yaml ${'#'.repeat(16 * 1024 + 1)}`, /bytes: at most 16384 are read/],
    [
      `file .rootsd.yaml version: 1\ndeny: [${Array.from({ length: 101 }, (_, i) => `x${i}`).join(', ')}]`,
      /too many items: it must have at most 100/,
    ],
    ['link .rootsd.yaml -> other.yaml', /it is a link/],
    ['fifo .rootsd.yaml', /must be a regular file/],
    ['dir .rootsd.yaml', /must be a regular file/],
  ];
  for (const [line, why] of rows) {
    const base = makeTree(t, [line, 'file other.yaml version: 1\n']);
    const project = await readProject(base);
    assert.ok(project?.state === 'broken', line);
    assert.match(project.why, why);
    assert.ok((await checkProject(base)).length > 0);
  }
});

test('checkProject() lists all problems', async (t) => {
  const base = makeTree(t, ['file .rootsd.yaml version: 2\nallow: []\ndeny: []\n']);
  assert.deepEqual((await checkProject(base)).map(({ code }) => code).sort(), [
    'SCHEMA_EMPTY',
    'SCHEMA_UNKNOWN_KEY',
    'SCHEMA_VALUE',
  ]);
});
