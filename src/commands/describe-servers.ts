// For a person at a terminal: what each server of the policy may see, and by which rule.

import { basename } from 'node:path';
import { escapeForTerminal } from '../core/display.ts';
import type { Evidence } from '../core/evidence.ts';
import { type ExplainContext, type ExplainedDecision, explainServer } from '../daemon/explain.ts';
import { alignColumns } from './io.ts';

/** Lines to print, escaped. A server is one that is declared or that a rule names. */
export function describeServers(evidence: Evidence, about: Omit<ExplainContext, 'source'>): string[] {
  const named = evidence.policy.rules.flatMap(({ servers = [] }) => servers);
  const servers = [...new Set([...evidence.policy.servers.keys(), ...named])];
  if (servers.length === 0) return ['No policy names a server'];
  return servers.flatMap((server) => describeServer(evidence, server, about)).map(escapeForTerminal);
}

function describeServer(evidence: Evidence, server: string, about: Omit<ExplainContext, 'source'>): string[] {
  const { decisions } = explainServer(evidence, { server }, { source: 'daemon', ...about });
  const rows = decisions.filter(({ effect }) => effect !== 'deny').map(rowOf);
  const withheld = decisions.length - rows.length;
  if (rows.length === 0) return [`${server} may see nothing`];
  const more = withheld === 0 ? [] : [`  and ${withheld} more ${withheld === 1 ? 'root' : 'roots'} not`];
  return [`${server} may see`, ...alignColumns(rows), ...more];
}

function rowOf({ effect, access, root, rule }: ExplainedDecision): string[] {
  const gone = root?.available === false ? ' (not there now)' : '';
  const by = rule === null ? '' : `by rule ${rule.id} (${basename(rule.file)}:${rule.line})`;
  return [
    '',
    effect === 'ask' ? 'if a person says so' : (access ?? ''),
    root?.name ?? '',
    `${root?.path ?? ''}${gone}`,
    by,
  ];
}
