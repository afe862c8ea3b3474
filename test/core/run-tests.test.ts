import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runTests } from '../../src/core/run-tests.ts';
import { layerFrom } from '../support/policy.ts';

const POLICY = `
roots:
  a: { path: ~/a }
  p: { path: ~/src/* }
servers: { s: { command: [npx] } }
rules:
  - { id: allow-a, allow: [a], servers: [s], access: read-write }
  - { id: allow-x, allow: [p/x], servers: [s] }
  - { id: ask-p, ask: [p], hosts: [h] }
  - { id: no-b, deny: [~/src/b] }
  - { id: no-bob, deny: [a], users: [bob] }
`;

describe('runTests()', () => {
  const rows: readonly [test: string, ok: boolean][] = [
    // server: fulfils the selectors; claims: only says so; a user that is not named is a missing fact
    ['server: s, user: ana, root: a, expect: allow', true],
    ['server: s, user: ana, root: a, expect: allow, access: read-write, rule: allow-a, kind: rule', true],
    ['server: s, user: ana, root: a, expect: allow, access: read-only', false],
    ['server: s, user: ana, root: a, expect: allow, rule: allow-x', false],
    ['server: s, root: a, expect: deny, rule: no-bob', true],
    ['claims: s, user: ana, root: a, expect: deny, kind: implicit', true],
    ['server: s, user: bob, root: a, expect: deny, rule: no-bob', true],
    // a path: the roots around it, of a pattern root the member
    ['server: s, user: ana, path: ~/a/b/c, expect: allow', true],
    ['server: s, user: ana, path: ~/ab, expect: deny, kind: implicit', true],
    ['server: s, path: ~/src/x/file, expect: allow, rule: allow-x', true],
    ['server: s, host: h, path: ~/src/y/file, expect: ask', true],
    ['server: s, path: ~/src/b/file, expect: deny, rule: no-b', true],
    // a pattern root, its members
    ['server: s, host: h, root: p, expect: ask, kind: pending', true],
    ['server: s, host: i, root: p, expect: deny', true],
    ['server: s, root: p, expect: ask', true],
    ['server: s, root: p/x, expect: allow', true],
    ['server: s, root: p/b, expect: deny, rule: no-b', true],
  ];
  for (const [test, ok] of rows) {
    it(`says ${ok ? 'ok' : 'failed'} to { ${test} }`, () => {
      const layer = layerFrom(`${POLICY}tests: [{ ${test} }]`);
      const [result] = runTests([layer], layer);
      assert.equal(result?.ok, ok, result?.actual.why);
    });
  }

  it('says what was expected and what the answer is', () => {
    const layer = layerFrom(`${POLICY}tests: [{ server: s, user: ana, root: a, expect: deny, kind: nested }]`);
    const [result] = runTests([layer], layer);
    assert.equal(result?.expectedText, 'deny (nested)');
    assert.equal(result?.actualText, 'allow read-write by rule "allow-a" (rule)');
  });

  it('runs the tests of one layer under the layers above it', () => {
    const upper = layerFrom(
      'ceiling: [~/src/**]\ntests: [{ server: s, path: ~/a, expect: deny, kind: ceiling }]',
      'system',
    );
    const lower = layerFrom(
      `${POLICY}tests: [{ server: s, user: ana, root: a, expect: deny, kind: ceiling }]`,
      'user',
      [upper],
    );
    assert.deepEqual(
      runTests([upper, lower], lower).map(({ ok }) => ok),
      [true],
    );
    assert.deepEqual(
      runTests([upper], upper).map(({ ok }) => ok),
      [true],
    );
  });
});
