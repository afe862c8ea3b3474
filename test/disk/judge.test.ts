import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseFileUri } from '../../src/core/path.ts';
import { judgePath, resolveRoot, resolveRoots } from '../../src/disk/judge.ts';
import { makeEntry, makeTree } from '../support/tree.ts';

const TREE = [
  'dir root/sub',
  'file root/f text',
  'dir root-x',
  'dir root.old',
  'file other/secret text',
  'link root/out -> ../other',
  'link root/dangling -> ../other/new',
  'link root/back -> ../other/home',
  'link other/home -> ../root',
  'link root/loop -> loop',
  'link alias -> root',
  'fifo root/pipe',
];

describe('judgePath()', () => {
  it('tells inside from outside from invalid', (t) => {
    const base = makeTree(t, TREE);
    const roots = resolveRoots([`${base}/root`]);
    const rows: readonly (readonly [requested: string, verdict: string])[] = [
      ['/root', 'inside'],
      ['/root/', 'inside'],
      ['/root/f', 'inside'],
      ['/root/pipe', 'inside'],
      ['/root/sub/../f', 'inside'],
      // A root covers all below it, also what does not exist yet (B092).
      ['/root/new/deep', 'inside'],
      // Given and resolved spelling are one place (B059).
      ['/alias/f', 'inside'],
      ['/root/back/f', 'inside'],
      // Names that only start alike (B064).
      ['/root-x', 'outside'],
      ['/root-y', 'outside'],
      ['/root.old', 'outside'],
      ['/rootx', 'outside'],
      ['/root/../root-x', 'outside'],
      ['', 'outside'],
      // Links that lead out, existing or not (B063).
      ['/root/out', 'outside'],
      ['/root/out/secret', 'outside'],
      ['/root/out/..', 'outside'],
      ['/root/dangling', 'outside'],
      ['/root/loop', 'invalid'],
      ['/root/f/x', 'invalid'],
      ['/root/new/../f', 'invalid'],
    ];
    for (const [requested, verdict] of rows) {
      assert.equal(judgePath(base + requested, roots).verdict, verdict, requested);
    }
    for (const text of ['', 'root/f', '~/f', `${base}/root/\0`])
      assert.equal(judgePath(text, roots).verdict, 'invalid');
  });

  it('gives the canonical path, the root and a reason that names where a link leads', (t) => {
    const base = makeTree(t, TREE);
    const roots = resolveRoots([`${base}/root`, `${base}/root/sub`]);
    assert.deepEqual(judgePath(`${base}/alias/sub/x`, roots), {
      verdict: 'inside',
      canonical: `${base}/root/sub/x`,
      root: `${base}/root/sub`,
      why: `the path leads to "${base}/root/sub/x", which lies in "${base}/root/sub"`,
    });
    assert.deepEqual(judgePath(`${base}/root/out/secret`, roots), {
      verdict: 'outside',
      canonical: `${base}/other/secret`,
      why: `the path leads to "${base}/other/secret", which lies in none of the roots`,
    });
  });

  it('honours a root `/` fully, and grants nothing without roots (B067, B069)', () => {
    assert.equal(judgePath('/etc/passwd', resolveRoots(['/'])).verdict, 'inside');
    assert.equal(judgePath('/', resolveRoots(['/'])).verdict, 'inside');
    assert.equal(judgePath('/', resolveRoots([])).verdict, 'outside');
  });

  it('says outside to all names that start with the name of a root (B064)', (t) => {
    const base = makeTree(t, ['dir root']);
    const roots = resolveRoots([`${base}/root`]);
    fc.assert(
      fc.property(fc.stringMatching(/^[a-zA-Z0-9._ -]{1,20}$/), (rest) => {
        assert.equal(judgePath(`${base}/root${rest}`, roots).verdict, 'outside');
        assert.equal(judgePath(`${base}/root/../root${rest}`, roots).verdict, 'outside');
        assert.notEqual(judgePath(`${base}/root/x${rest}`, roots).verdict, 'outside');
      }),
      { numRuns: 200 },
    );
  });

  it('covers what is made later (B092)', (t) => {
    const base = makeTree(t, ['dir root']);
    const roots = resolveRoots([`${base}/root`]);
    makeEntry(base, 'dir root/later/deep');
    assert.equal(judgePath(`${base}/root/later/deep`, roots).verdict, 'inside');
  });

  it('judges encoded dot segments where they lead (B087)', (t) => {
    const base = makeTree(t, TREE);
    const roots = resolveRoots([`${base}/root`]);
    const verdictOf = (rest: string) => {
      const uri = parseFileUri(`file://${base}/root/${rest}`);
      return uri.ok ? judgePath(uri.path, roots).verdict : 'malformed';
    };
    assert.equal(verdictOf('%2e%2e/other/secret'), 'outside');
    assert.equal(verdictOf('%2E%2e/root/f'), 'inside');
    assert.equal(verdictOf('sub/.%2E/f'), 'inside');
    // By text this is root/f; on the disk it is above where the link leads.
    assert.equal(verdictOf('out/%2e%2e/f'), 'outside');
    assert.equal(verdictOf('..%2fother'), 'malformed');
  });
});

describe('resolveRoots()', () => {
  it('takes paths and URIs of directories and files; all else grants nothing', (t) => {
    const base = makeTree(t, TREE);
    const rows: readonly (readonly [root: string, enclosing: string | undefined])[] = [
      [`${base}/root`, `${base}/root`],
      [`${base}/alias/`, `${base}/root`],
      [`file://${base}/root`, `${base}/root`],
      [`${base}/root/f`, `${base}/root/f`],
      [`${base}/root/new`, undefined],
      [`${base}/root/pipe`, undefined],
      [`${base}/root/loop`, undefined],
      ['root', undefined],
      ['~', undefined],
      ['', undefined],
      ['file://server/root', undefined],
      ['https://localhost/', undefined],
    ];
    for (const [root, enclosing] of rows) {
      const judged = judgePath(`${base}/root/f`, resolveRoots([root]));
      assert.equal(judged.verdict === 'inside' ? judged.root : undefined, enclosing, root);
    }
  });
});

describe('resolveRoot()', () => {
  it('refuses what cannot be a root, and says why', (t) => {
    const base = makeTree(t, TREE);
    const rows: readonly (readonly [root: string, why: RegExp])[] = [
      [`${base}/root/pipe`, /neither a directory nor a regular file/],
      [`${base}/root/new`, /does not exist/],
      ['root', /relative/],
      ['file://server/root', /host/],
    ];
    for (const [root, why] of rows) {
      const resolved = resolveRoot(root);
      assert.match(resolved.ok ? resolved.path : resolved.why, why);
    }
  });
});
