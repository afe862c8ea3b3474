import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readResource } from '../../src/mcp/resources.ts';
import { endpointSession } from '../support/endpoint-session.ts';
import { temporaryDirectory } from '../support/tree.ts';

/** Lists a directory of so many files. */
async function listed(t: TestContext, count: number, nameOf: (at: number) => string) {
  const base = temporaryDirectory(t);
  for (let at = 0; at < count; at++) writeFileSync(join(base, nameOf(at)), '');
  const session = endpointSession(t, `roots: { r: { path: ${base} } }\nrules: [{ id: a, allow: [r] }]\n`);
  const { contents } = await readResource(session, `file://${base}`);
  const [first] = contents;
  const text = first !== undefined && 'text' in first ? first.text : '';
  return { base, text, listing: JSON.parse(text) };
}

test('readResource() lists the first two thousand names of a huge directory, and says how many there are', async (t) => {
  const count = 3_001;
  const nameOf = (at: number) => `entry-${String((at * 1_009) % count).padStart(6, '0')}`;
  const { base, listing } = await listed(t, count, nameOf);
  assert.equal(listing.total, count);
  assert.equal(listing.entries.length, 2_000);
  assert.deepEqual(listing.entries[1_999], {
    name: 'entry-001999',
    kind: 'file',
    uri: `file://${base}/entry-001999`,
  });
});

test('readResource() lists no more than a megabyte', async (t) => {
  const { text, listing } = await listed(t, 1_500, (at) => `${String(at).padStart(4, '0')}${'ä'.repeat(120)}`);
  assert.equal(listing.total, 1_500);
  assert.ok(listing.entries.length < 1_500, String(listing.entries.length));
  assert.ok(text.length > 1_000_000 && text.length < 1_100_000, String(text.length));
});
