// Edits of the user's local.yaml for `rootsd allow` and `rootsd revoke`: text in, text out, comments kept.

import { Document, isMap, isSeq, parseDocument, type YAMLMap, YAMLSeq } from 'yaml';
import type { Access } from '../core/access.ts';

/** Strings that YAML 1.1 readers take for something else are quoted; long lines are left alone. */
const OPTIONS = { compat: 'yaml-1.1' } as const;
const PRINT = { lineWidth: 0 } as const;

const HEADER = ` Written by "rootsd allow" and "rootsd revoke". Yours to edit too: comments stay.`;

export interface Allowance {
  readonly server: string;
  /** The root's name and, where this file must declare it, its path. */
  readonly root: string;
  readonly path?: string;
  readonly access: Access;
}

/** The text with a rule that allows the server the root; an existing rule of ours gets the new access. */
export function addAllowance(text: string, { server, root, path, access }: Allowance): string {
  const document = open(text);
  if (path !== undefined) document.setIn(['roots', root], document.createNode({ path }));
  const id = ruleId(server, root);
  const rules = rulesOf(document);
  const known = rules.items.find((rule) => isMap(rule) && rule.get('id') === id);
  if (isMap(known)) known.set('access', access);
  else rules.add(document.createNode({ id, allow: [root], servers: [server], access }));
  return document.toString(PRINT);
}

export interface Removal {
  readonly root: string;
  /** undefined: from every server. */
  readonly server: string | undefined;
}

/**
 * The text without the rules of ours that allow the root (to that server), and without the root's declaration where no
 * rule of this file uses it any more. Returns the ids that were removed.
 */
export function removeAllowance(text: string, { root, server }: Removal): { text: string; removed: readonly string[] } {
  const document = open(text);
  const rules = rulesOf(document);
  const ours = rules.items.filter((rule) => isOurs(rule, root, server)).map((rule) => (rule as YAMLMap).get('id'));
  rules.items = rules.items.filter((rule) => !isOurs(rule, root, server));
  const left = rules.items.some((rule) => isMap(rule) && uses(rule, root));
  if (rules.items.length === 0) document.delete('rules');
  if (!left && ours.length > 0) {
    document.deleteIn(['roots', root]);
    const roots = document.get('roots');
    if (isMap(roots) && roots.items.length === 0) document.delete('roots');
  }
  return { text: document.toString(PRINT), removed: ours.map(String) };
}

/** The id of the rule that `rootsd allow` writes. */
export function ruleId(server: string, root: string): string {
  return `allow-${server}-${root.replaceAll('/', '-')}`.slice(0, 100);
}

function open(text: string): Document {
  if (text.trim() !== '') return parseDocument(text, OPTIONS) as unknown as Document;
  const document = new Document({ version: 1 }, OPTIONS);
  document.commentBefore = HEADER;
  return document;
}

function rulesOf(document: Document): YAMLSeq {
  const rules = document.get('rules');
  if (isSeq(rules)) return rules;
  const made = new YAMLSeq();
  document.set('rules', made);
  return made;
}

function isOurs(rule: unknown, root: string, server: string | undefined): boolean {
  if (!isMap(rule)) return false;
  const servers = rule.get('servers');
  if (!isSeq(servers)) return false;
  const named = String(servers.toJSON());
  return (server === undefined || named === server) && rule.get('id') === ruleId(named, root);
}

function uses(rule: YAMLMap, root: string): boolean {
  return ['allow', 'ask', 'deny', 'except'].some((key) => {
    const items = rule.get(key);
    return isSeq(items) && (items.toJSON() as unknown[]).some((item) => item === root || item === `${root}/*`);
  });
}
