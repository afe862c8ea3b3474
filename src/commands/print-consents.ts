// Questions, grants and answers as lines for a person. Whoever prints them escapes them. What a peer says of itself is in
// quotes that it cannot end, with how it is known. Lists cut long paths in the middle; what is shown alone is shown in full.

import { hostText, pathText, serverText } from '../ask/question-text.ts';
import type { GrantRow, HistoryRow, PendingRow, ShownConsent } from '../daemon/consent-rows.ts';
import { alignColumns } from './io.ts';

/** What of a row stands in which column. */
type Columns<Row> = readonly (readonly [head: string, cell: (row: Row) => string])[];

const PENDING: Columns<PendingRow> = [
  ['QUESTION', ({ id }) => id],
  ['SERVER', serverText],
  ['ASKS FOR', ({ access }) => access],
  ['PATH', ({ path }) => pathText(path)],
  ['RULE', ({ rule }) => rule],
  ['SCOPES', ({ scopes }) => scopes.join(',')],
  ['COUNT', ({ count }) => String(count)],
  ['UNTIL', ({ until }) => until],
];

const GRANTS: Columns<GrantRow> = [
  ['GRANT', ({ id }) => id],
  ['SERVER', serverText],
  ['ACCESS', ({ access }) => access],
  ['PATH', ({ path }) => pathText(path)],
  ['RULE', ({ rule }) => rule],
  ['SCOPE', ({ scope }) => scope],
  ['UNTIL', endOf],
  ['STATE', ({ state }) => state],
];

const HISTORY: Columns<HistoryRow> = [
  ['TIME', ({ time }) => time],
  ['WHAT', ({ event }) => event],
  ['SERVER', serverText],
  ['ACCESS', ({ access }) => access],
  ['PATH', ({ path }) => pathText(path)],
  ['SCOPE', ({ scope }) => scope ?? '-'],
  ['BY', ({ channel, uid }) => (channel === null ? '-' : `${channel}, uid ${uid}`)],
  ['NOTE', ({ note }) => note ?? '-'],
];

export function pendingLines(rows: readonly PendingRow[]): readonly string[] {
  return table(rows, PENDING);
}

export function grantLines(rows: readonly GrantRow[]): readonly string[] {
  return table(rows, GRANTS);
}

/** The latest first. */
export function historyLines(rows: readonly HistoryRow[]): readonly string[] {
  return table(rows.toReversed(), HISTORY);
}

function table<Row>(rows: readonly Row[], columns: Columns<Row>): readonly string[] {
  if (rows.length === 0) return [];
  const head = columns.map(([name]) => name);
  return alignColumns([head, ...rows.map((row) => columns.map(([, cell]) => cell(row)))]);
}

/** When a grant or a question ends, if nobody ends it before. */
function endOf({ until, scope }: Pick<GrantRow, 'until' | 'scope'>): string {
  return until ?? (scope === 'once' ? 'its call or session ends' : 'its session ends');
}

export function shownLines({ pending, grant, facts, written, identity, file, line }: ShownConsent): readonly string[] {
  const row = pending ?? grant;
  if (row === null) return [];
  const rows: (readonly [string, string | null])[] = [
    [pending === null ? 'grant' : 'question', row.id],
    ['server', serverText(row)],
    ['host', hostText(row)],
    ['user', row.user],
    ['root', row.root],
    ['path', row.path],
    ['written as', written === row.path ? null : written],
    ['directory', identity],
    ['access', row.access],
    ['rule', file === null ? row.rule : `${row.rule} (${file}:${line})`],
    ['reason', pending?.reason ?? null],
    ['scopes', pending?.scopes.join(', ') ?? null],
    ['answered by', pending === null ? null : pending.approver],
    ['scope', grant?.scope ?? null],
    ['state', grant?.state ?? null],
    ['since', row.since],
    ['until', grant === null ? row.until : endOf(grant)],
    ['asked', pending === null ? null : `${pending.count} times`],
    ...facts.map((fact) => ['bound to', fact] as const),
  ];
  return alignColumns(rows.flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
}
