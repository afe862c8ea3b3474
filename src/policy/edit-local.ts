// Edits of the user's local.yaml for `rootsd allow` and `rootsd revoke`: text in, text out, comments kept.

import { Document, isMap, isSeq, parseDocument, type YAMLMap, YAMLSeq } from 'yaml';
import type { Access } from '../core/access.ts';
import { parseMoment } from '../core/ending.ts';

/** Strings that YAML 1.1 readers take for something else are quoted; long lines are left alone. */
const OPTIONS = { compat: 'yaml-1.1' } as const;
const PRINT = { lineWidth: 0 } as const;
/** Ids of the rules that "rootsd allow" writes begin so. */
const OUR_ID = 'allow-';

const HEADER = ` Written by "rootsd allow" and "rootsd revoke". Yours to edit too: comments stay.`;

export interface Allowance {
  readonly server: string;
  /** The root's name and, where this file must declare it, its path. */
  readonly root: string;
  readonly path?: string;
  readonly access: Access;
  /** When it ends, as policies write a moment; omitted: never. */
  readonly until?: string;
  /** Ids of rules, in whatever file: the new rule gets another one. */
  readonly takenIds?: readonly string[];
}

/**
 * The text with a rule that allows the server the root. An existing rule of ours gets the new access, and the new end: one
 * that ends and one that does not stand beside each other, so that what is given for a while takes nothing away after it.
 */
export function addAllowance(text: string, allowance: Allowance): string {
  const { server, root, path, access, until } = allowance;
  const document = open(text);
  if (path !== undefined) document.setIn(['roots', root], document.createNode({ path }));
  const rules = rulesOf(document);
  const ends = until === undefined ? 'never' : 'some time';
  const known = rules.items.find((rule) => isOurs(rule, { root, server, ends }));
  const given = { access, ...(until === undefined ? {} : { until }) };
  if (isMap(known)) for (const [key, value] of Object.entries(given)) known.set(key, value);
  else rules.add(document.createNode({ id: newId(allowance), allow: [root], servers: [server], ...given }));
  return document.toString(PRINT);
}

/** The text without the rules of ours that have ended, and without what they alone needed. */
export function removeEnded(text: string, nowMs: number): string {
  if (text.trim() === '') return text;
  const document = open(text);
  const rules = rulesOf(document);
  const ended = rules.items.filter(
    (rule) => isMap(rule) && isOurs(rule, { ends: 'some time' }) && hasEnded(rule, nowMs),
  );
  if (ended.length === 0) return text;
  rules.items = rules.items.filter((rule) => !ended.includes(rule));
  for (const rule of ended) removeUnused(document, rules, String((rule as YAMLMap).getIn(['allow', 0])));
  if (rules.items.length === 0) document.delete('rules');
  return document.toString(PRINT);
}

function hasEnded(rule: YAMLMap, nowMs: number): boolean {
  const untilMs = parseMoment(String(rule.get('until')));
  return untilMs !== null && nowMs >= untilMs;
}

export interface Removal {
  readonly roots: readonly string[];
  /** undefined: from every server. */
  readonly server: string | undefined;
  /** Leaves the declarations of the roots. */
  readonly keepsRoots?: boolean;
}

/**
 * The text without the rules of ours that allow the roots (to that server), and without declarations of ours that no
 * rule of this file uses any more. Returns the ids that were removed.
 */
export function removeAllowance(text: string, { roots, server, keepsRoots = false }: Removal): Removed {
  const document = open(text);
  const rules = rulesOf(document);
  const isGoing = (rule: unknown): boolean => roots.some((root) => isOurs(rule, { root, server }));
  const removed = rules.items.filter(isGoing).map((rule) => String((rule as YAMLMap).get('id')));
  if (removed.length === 0) return { text, removed };
  rules.items = rules.items.filter((rule) => !isGoing(rule));
  if (!keepsRoots) for (const root of roots) removeUnused(document, rules, root);
  if (rules.items.length === 0) document.delete('rules');
  return { text: document.toString(PRINT), removed };
}

export interface Removed {
  readonly text: string;
  readonly removed: readonly string[];
}

/** A declaration that says more than a path was written by a person, and stays. */
function removeUnused(document: Document, rules: YAMLSeq, root: string): void {
  const roots = document.get('roots');
  if (!isMap(roots) || rules.items.some((rule) => isMap(rule) && uses(rule, root))) return;
  const declared = roots.get(root);
  if (isMap(declared) && declared.items.length === 1 && declared.has('path')) roots.delete(root);
  if (roots.items.length === 0) document.delete('roots');
}

const MAX_ID_LENGTH = 100;

/** An id for a rule, of the characters that ids may have. Whose it is the rule itself says, not its id. */
function newId({ server, root, takenIds = [] }: Allowance): string {
  const base = `${OUR_ID}${server}-${root}`.replaceAll(/[^A-Za-z0-9._-]/g, '-').slice(0, MAX_ID_LENGTH - 4);
  for (let i = 1; ; i += 1) {
    const id = i === 1 ? base : `${base}-${i}`;
    if (!takenIds.includes(id)) return id;
  }
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

interface Ours {
  /** Each omitted: any. */
  readonly root?: string;
  readonly server?: string | undefined;
  readonly ends?: 'never' | 'some time';
}

/** Does `rootsd allow` write such a rule? One that says more was changed by a person. */
function isOurs(rule: unknown, { root, server, ends }: Ours): boolean {
  if (!isMap(rule) || !rule.has('access')) return false;
  const isEnding = rule.has('until');
  if (rule.items.length !== (isEnding ? 5 : 4) || (ends !== undefined && isEnding !== (ends === 'some time')))
    return false;
  const { id, allow, servers } = rule.toJSON() as Record<string, unknown>;
  return typeof id === 'string' && id.startsWith(OUR_ID) && isOnly(allow, root) && isOnly(servers, server);
}

/** A list of one, which is that one; undefined: any one. */
function isOnly(list: unknown, item: string | undefined): boolean {
  return Array.isArray(list) && list.length === 1 && (item === undefined || list[0] === item);
}

function uses(rule: YAMLMap, root: string): boolean {
  return ['allow', 'ask', 'deny', 'except'].some((key) => {
    const items = rule.get(key);
    return isSeq(items) && (items.toJSON() as unknown[]).some((item) => item === root || item === `${root}/*`);
  });
}
