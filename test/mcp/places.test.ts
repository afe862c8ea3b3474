import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fetchVisible } from '../../src/mcp/places.ts';
import { endpointSession } from '../support/endpoint-session.ts';
import { makeTree } from '../support/tree.ts';

test('fetchVisible() gives nothing that is denied, or no root any more, by the time it is fetched', async (t) => {
  const base = makeTree(t, ['file a/x', 'file b/x']);
  const policy = (rules: string) =>
    `roots: { a: { path: ${base}/a }, b: { path: ${base}/b } }\nrules:\n  - { id: b, allow: [b] }\n${rules}`;
  const allowed = policy('  - { id: a, allow: [a] }\n');
  for (const meanwhile of ['', `  - { id: a, allow: [a] }\n  - { id: d, deny: ["${base}/a/x"] }\n`]) {
    const session = endpointSession(t, allowed);
    assert.equal((await fetchVisible(session, `${base}/a/x`, { want: 'all' }))?.kind, 'file');
    const fetching = fetchVisible(session, `${base}/a/x`, { want: 'all' });
    session.policy(policy(meanwhile));
    assert.equal(await fetching, null);
  }
});

test('fetchVisible() does not touch what lies outside', async (t) => {
  const base = makeTree(t, ['file a/x', 'file b/x']);
  const session = endpointSession(t, `roots: { a: { path: ${base}/a } }\nrules: [{ id: a, allow: [a] }]\n`);
  for (const path of [`${base}/b/x`, `${base}/a/../b/x`, `${base}/ab`, base, 'a/x', '']) {
    assert.equal(await fetchVisible(session, path, { want: 'all' }), null, path);
  }
  assert.deepEqual(session.fetched, []);
});
