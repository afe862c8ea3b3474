// What a person is shown of a question. Whatever others could have chosen – names, paths, reasons – is one line, holds
// nothing hidden, and is cut where it is so long that it would push the rest out of sight.

import { knownBy } from '../core/consent.ts';
import { escapeForTerminal, shellQuoted } from '../core/display.ts';
import type { Asker, Question } from '../core/question.ts';

/** Rows of a name and a value each, the important ones first. */
export type QuestionRows = readonly (readonly [name: string, value: string])[];

const MAX_PATH = 160;
const MAX_NAME = 80;
const MAX_REASON = 300;

/** One line: who asks for what. */
export function questionTitle({ asker, access }: Question): string {
  return `${serverText(asker)} asks for ${access} access`;
}

/** All that a person needs to answer. */
export function questionRows({ asker, key, written, access, rule, reason, scopes }: Question): QuestionRows {
  const rows: (readonly [string, string | null])[] = [
    ['server', serverText(asker)],
    ['known by', knownByText(key.facts)],
    ['host', hostText(asker)],
    ['user', cutInTheMiddle(escapeForTerminal(asker.user), MAX_NAME)],
    ['path', pathText(key.path)],
    ['written as', written === key.path ? null : pathText(written)],
    ['access', access],
    ['rule', cutInTheMiddle(escapeForTerminal(`${rule.id} (${rule.file}:${rule.line})`), MAX_PATH)],
    ['reason', reason === null ? null : cutInTheMiddle(escapeForTerminal(reason), MAX_REASON)],
    ['scopes', scopes.join(', ')],
  ];
  return rows.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
}

/** The same as a few lines, for a window. It begins with our own word: no program takes it for an option. */
export function questionText(question: Question): string {
  const rows = questionRows(question).map(([name, value]) => `${name}: ${value}`);
  return [`rootsd: ${questionTitle(question)}`, ...rows, `question: ${question.id}`].join('\n');
}

/** The name is a claim unless something stands behind it: how it is known is said outside of the quotes. */
export function serverText({ server, class: peerClass }: Pick<Asker, 'server' | 'class'>): string {
  return server === null ? `a nameless server (${peerClass})` : `${quoted(server)} (${peerClass})`;
}

/** null: by its name alone. */
function knownByText(facts: readonly string[]): string | null {
  const known = knownBy(facts);
  if (known === null) return null;
  const words = known.words.map((word) => shellQuoted(escapeForTerminal(word))).join(' ');
  return `${known.what} ${cutInTheMiddle(words, MAX_PATH)}`;
}

/** null: it says none. */
export function hostText({ host }: Pick<Asker, 'host'>): string | null {
  return host === null ? null : `${quoted(host)} (claimed)`;
}

/** A quote within cannot end it. */
function quoted(text: string): string {
  const escaped = escapeForTerminal(text.replace(/["\\]/g, '\\$&'));
  return `"${cutInTheMiddle(escaped, MAX_NAME)}"`;
}

/** In quotes where it has blanks: what looks like more than a path is part of it. */
export function pathText(path: string): string {
  return shellQuoted(cutInTheMiddle(escapeForTerminal(path), MAX_PATH));
}

/** Of a path both ends say something: whose it is, and what. */
function cutInTheMiddle(text: string, max: number): string {
  const characters = [...text];
  if (characters.length <= max) return text;
  const half = Math.floor((max - 1) / 2);
  return `${characters.slice(0, half).join('')}…${characters.slice(-half).join('')}`;
}
