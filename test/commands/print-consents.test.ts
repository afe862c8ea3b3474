import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { grantLines, historyLines, pendingLines, shownLines } from '../../src/commands/print-consents.ts';
import { grantRow, historyRow, pendingRow, shownQuestion } from '../../src/daemon/consent-rows.ts';
import { ASKER, grantOf, keyOf, questionOf } from '../support/consents.ts';

const asker = { ...ASKER, server: 'fs" (attested)', host: 'vscode" (attested)' };
const path = `/home/ana/${'x'.repeat(4_000)}/secret`;
const key = keyOf({ path });
const open = { question: questionOf({ asker, key, written: path }), count: 1 };
const NONE = { scope: null, channel: null, uid: null, note: null };
const entry = {
  time: '',
  event: 'denied',
  id: 'q1',
  asker,
  root: 'a',
  path,
  access: 'read-only',
  rule: 'r',
  ...NONE,
} as const;
const LISTS: Readonly<Record<string, readonly string[]>> = {
  pendingLines: pendingLines([pendingRow(open)]),
  grantLines: grantLines([grantRow(grantOf({ asker, key }), { until: null, state: 'holds' })]),
  historyLines: historyLines([historyRow(entry)]),
};

for (const [name, lines] of Object.entries(LISTS)) {
  describe(`${name}()`, () => {
    it('quotes a name so that it cannot end its quotes, and says how it is known', () => {
      assert.match(lines[1] ?? '', / {2}"fs\\" \(attested\)" \(claimed\) {2}/);
    });

    it('shows both ends of a long path', () => {
      assert.match(lines[1] ?? '', / '\/home\/ana\/x+…x+\/secret' /);
      assert.ok((lines[1] ?? '').length < 400);
    });
  });
}

describe('shownLines()', () => {
  const lines = shownLines(shownQuestion(open));

  it('quotes what a peer says of itself, the host too', () => {
    assert.ok(lines.some((line) => /^server +"fs\\" \(attested\)" \(claimed\)$/.test(line)));
    assert.ok(lines.some((line) => /^host +"vscode\\" \(attested\)" \(claimed\)$/.test(line)));
  });

  it('shows a path in full', () => {
    assert.ok(lines.some((line) => line.endsWith(`  ${path}`)));
  });
});
