import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { listResources, readResource } from '../../src/mcp/resources.ts';
import { endpointSession } from '../support/endpoint-session.ts';
import { peer } from '../support/policy.ts';
import { makeTree, temporaryDirectory } from '../support/tree.ts';

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

test('readResource() and listResources() keep what is carved out of a root out of sight, and say that it is', async (t) => {
  const base = makeTree(t, ['file a/x/secret', 'file a/y', 'link a/over -> x', 'file a/z/secret']);
  // Behind `rootsd run`: there alone a root with holes is told.
  const who = peer('rootsd', { class: 'launched' });
  const policy = `roots: { a: { path: ${base}/a, nested: carve } }
rules: [{ id: a, allow: [a] }, { id: x, deny: ["${base}/a/x", "${base}/a/z"] }]
`;
  const session = endpointSession(t, policy, who);
  const [root] = listResources(session.sight()).resources;
  assert.equal(root?.description, `read-only, without "${base}/a/x" and "${base}/a/z"`);
  const { contents } = await readResource(session, `file://${base}/a`);
  const [first] = contents;
  const { entries } = JSON.parse(first !== undefined && 'text' in first ? first.text : '');
  assert.deepEqual(
    entries.map(({ name }: { name: string }) => name),
    ['y'],
  );
  for (const path of ['a/x', 'a/x/secret', 'a/over/secret', 'a/z/secret']) {
    await assert.rejects(readResource(session, `file://${base}/${path}`), { code: -32602 }, path);
  }
});

test('readResource() tells text from bytes, and what is too large', async (t) => {
  const base = temporaryDirectory(t);
  const session = endpointSession(t, `roots: { r: { path: ${base} } }\nrules: [{ id: a, allow: [r] }]\n`);
  const rows: [bytes: Buffer, expected: { readonly text: string } | { readonly blob: true }][] = [
    [Buffer.from(''), { text: '' }],
    [Buffer.from('ä\r\n\u{1f600}'), { text: 'ä\r\n\u{1f600}' }],
    [Buffer.from([0x61, 0x00]), { blob: true }],
    [Buffer.from([0x61, 0xff]), { blob: true }],
    [Buffer.from([0xc3]), { blob: true }],
    [Buffer.alloc(1024 * 1024, 'x'), { text: 'x'.repeat(1024 * 1024) }],
  ];
  const uri = `file://${base}/f`;
  for (const [bytes, expected] of rows) {
    writeFileSync(join(base, 'f'), bytes);
    const type = 'text' in expected ? 'text/plain' : 'application/octet-stream';
    const content = 'text' in expected ? expected : { blob: bytes.toString('base64') };
    assert.deepEqual((await readResource(session, uri)).contents, [{ uri, mimeType: type, ...content }]);
  }
  writeFileSync(join(base, 'f'), Buffer.alloc(1024 * 1024 + 1));
  await assert.rejects(readResource(session, uri), {
    code: -32602,
    message: 'Invalid params: the file has 1048577 bytes, at most 1048576 are sent',
    data: { uri, size: 1024 * 1024 + 1 },
  });
});

test('listResources() says of a root whether it is a directory', (t) => {
  const base = makeTree(t, ['file f', 'dir d']);
  const policy = `roots: { f: { path: ${base}/f, kind: file }, d: { path: ${base}/d } }\nrules: [{ id: a, allow: [f, d] }]\n`;
  const { resources } = listResources(endpointSession(t, policy).sight());
  assert.deepEqual(
    resources.map(({ name, mimeType, description }) => [name, mimeType, description]),
    [
      ['f', undefined, 'read-only'],
      ['d', 'inode/directory', 'read-only'],
    ],
  );
});

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
