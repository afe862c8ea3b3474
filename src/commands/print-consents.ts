// Questions, grants and answers as lines for a person. Whoever prints them escapes them. What a peer says of itself is in
// quotes that it cannot end, with how it is known. Lists cut long paths in the middle; what is shown alone is shown in full.

import { hostText, pathText, serverText } from '../ask/question-text.ts';
import type { GrantRow, HistoryRow, PendingRow, ShownConsent } from '../daemon/consent-rows.ts';
import { alignColumns } from './io.ts';

export function pendingLines(rows: readonly PendingRow[]): readonly string[] {
  if (rows.length === 0) return [];
  const head = ['QUESTION', 'SERVER', 'ASKS FOR', 'PATH', 'RULE', 'SCOPES', 'COUNT', 'UNTIL'];
  const cells = rows.map((row) => [
    row.id,
    serverText(row),
    row.access,
    pathText(row.path),
    row.rule,
    row.scopes.join(','),
    String(row.count),
    row.until,
  ]);
  return alignColumns([head, ...cells]);
}

export function grantLines(rows: readonly GrantRow[]): readonly string[] {
  if (rows.length === 0) return [];
  const head = ['GRANT', 'SERVER', 'ACCESS', 'PATH', 'RULE', 'SCOPE', 'UNTIL', 'STATE'];
  const cells = rows.map((row) => [
    row.id,
    serverText(row),
    row.access,
    pathText(row.path),
    row.rule,
    row.scope,
    row.until ?? 'its session ends',
    row.state,
  ]);
  return alignColumns([head, ...cells]);
}

/** The latest first. */
export function historyLines(rows: readonly HistoryRow[]): readonly string[] {
  if (rows.length === 0) return [];
  const head = ['TIME', 'WHAT', 'SERVER', 'ACCESS', 'PATH', 'SCOPE', 'BY', 'NOTE'];
  const cells = rows
    .toReversed()
    .map((row) => [
      row.time,
      row.event,
      serverText(row),
      row.access,
      pathText(row.path),
      row.scope ?? '-',
      row.channel === null ? '-' : `${row.channel}, uid ${row.uid}`,
      row.note ?? '-',
    ]);
  return alignColumns([head, ...cells]);
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
    ['until', row.until ?? 'its session ends'],
    ['asked', pending === null ? null : `${pending.count} times`],
    ...facts.map((fact) => ['bound to', fact] as const),
  ];
  return alignColumns(rows.flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
}
