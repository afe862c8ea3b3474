import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConsentJournal } from '../../src/daemon/consent-journal.ts';
import { SLICE_MS } from '../../src/disk/slices.ts';
import { BY_COMMAND, grantOf, START } from '../support/consents.ts';

const GRANTS = Array.from({ length: 20 }, (_, i) => grantOf({ id: `g${i}` }));

/** A journal whose lines take a slice each to be written. */
function opened() {
  const lines: unknown[] = [];
  const record = (_level: string, _event: string, fields: Readonly<Record<string, unknown>> = {}) => {
    lines.push(fields.grant);
    for (const endMs = performance.now() + SLICE_MS; performance.now() < endMs; );
  };
  return { lines, journal: new ConsentJournal({ history: [], record, now: () => START.wallMs }) };
}

test('the lines of what has ended are written in slices, in order, those too that come meanwhile', async () => {
  const { lines, journal } = opened();
  journal.ended(GRANTS.slice(0, 10), 'revoked', BY_COMMAND);
  journal.ended(GRANTS.slice(10), 'ended', null);
  assert.deepEqual(lines, ['g0'], 'the others have their turn');
  assert.equal(journal.history.length, 20);
  await journal.written();
  assert.deepEqual(
    lines,
    GRANTS.map(({ id }) => id),
  );
  journal.ended([grantOf({ id: 'late' })], 'ended', null);
  assert.equal(lines.length, 21);
});

test('close() writes what is still to be written', async () => {
  const { lines, journal } = opened();
  journal.ended(GRANTS, 'ended', null);
  journal.close();
  assert.equal(lines.length, GRANTS.length);
  await journal.written();
  assert.equal(lines.length, GRANTS.length);
});
