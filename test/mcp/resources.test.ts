import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asRealPath } from '../../src/core/path.ts';
import { readResource } from '../../src/mcp/resources.ts';
import { endpointSession } from '../support/endpoint-session.ts';
import { temporaryDirectory } from '../support/tree.ts';

test('readResource() lists the first ten thousand names of a huge directory, and lets others have their turn', async (t) => {
  const base = temporaryDirectory(t);
  const count = 100_000;
  const nameOf = (at: number) => `entry-${String(at).padStart(6, '0')}`;
  const entries = Array.from({ length: count }, (_, at) => ({
    name: nameOf((at * 7_919) % count),
    kind: 'file' as const,
  }));
  const real = endpointSession(t, `roots: { r: { path: ${base} } }\nrules: [{ id: a, allow: [r] }]\n`);
  const path = asRealPath(base);
  const place = { ok: true, path, kind: 'directory', size: 0, signature: '', entries, base64: null } as const;
  let turns = 0;
  let isDone = false;
  const turn = (): void => {
    turns += 1;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  const { contents } = await readResource({ ...real, fetch: async () => place }, `file://${base}`);
  isDone = true;
  const [first] = contents;
  const listing = JSON.parse(first !== undefined && 'text' in first ? first.text : '');
  assert.equal(listing.total, count);
  assert.equal(listing.entries.length, 10_000);
  assert.deepEqual(listing.entries[9_999], {
    name: nameOf(9_999),
    kind: 'file',
    uri: `file://${base}/${nameOf(9_999)}`,
  });
  assert.ok(turns > 5, `${turns} turns`);
});
