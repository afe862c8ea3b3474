import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { TestHome } from '../support/serve.ts';

interface TestReply {
  readonly ok: boolean;
  readonly tests: readonly { readonly expected: string; readonly actual: string; readonly ok: boolean }[];
}

const RULES = 'roots: { a: { path: ~/a } }\nrules: [{ id: allow-a, allow: [a], servers: [s], access: read-write }]\n';

describe('rootsd test', () => {
  it('runs the tests of all layers, says each, and ends with 0 where all hold', async (t) => {
    const home = new TestHome(t);
    home.policy('tests: [{ claims: s, path: ~/.ssh, expect: deny }]', 'user', 'a.yaml');
    const file = home.policy(`${RULES}tests:\n  - { claims: s, root: a, expect: allow, rule: allow-a }\n`);
    const { status, ...reply } = await home.json<TestReply>('test');
    assert.equal(status, 0);
    assert.equal(reply.ok, true);
    assert.deepEqual(reply.tests[1], {
      file,
      line: 5,
      expected: 'allow by rule "allow-a"',
      actual: 'allow read-write by rule "allow-a" (rule)',
      ok: true,
    });
    assert.equal((await home.command('test')).out, '2 tests, 0 failed\n');
  });

  it('says which test fails, what was expected and what the answer is, and ends with 1', async (t) => {
    const home = new TestHome(t);
    const file = home.policy(`${RULES}tests:\n  - { claims: s, root: a, expect: allow, access: read-only }\n`);
    const { status, out } = await home.command('test');
    assert.equal(status, 1);
    const answer = 'expected allow read-only, the answer is allow read-write by rule "allow-a" (rule)';
    assert.equal(out, `${file}:5: ${answer}\n1 test, 1 failed\n`);
    const { ok, tests } = await home.json<TestReply>('test');
    assert.deepEqual([ok, tests.map((test) => test.ok)], [false, [false]]);
  });

  it('ends with 1 where a policy cannot be read, and names the place', async (t) => {
    const home = new TestHome(t);
    home.policy('rules: [');
    const { status, out, err } = await home.command('test');
    assert.deepEqual([status, out], [1, '0 tests, 0 failed\n']);
    assert.ok(err.startsWith(`${join(home.directory('user'), 'test.yaml')}:2:9: error: `), err);
  });

  it('asks no disk and no daemon', async (t) => {
    const home = new TestHome(t);
    home.policy(`${RULES}tests: [{ claims: s, path: ~/a/none, expect: allow }]`);
    assert.equal((await home.command('test')).status, 0);
  });
});
