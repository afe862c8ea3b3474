// A message that is judged must be the same for whoever reads it after us. Readers of JSON differ where a name stands twice
// (the first, the last, an error), in bytes that are not UTF-8, and in what they take for the end of a line: such a
// message is no message here.

import { isUtf8 } from 'node:buffer';
import { endOfString, skipBlanks } from '../splice.ts';
import { withoutLongTexts } from './long-texts.ts';
import { foldCase } from './path-names.ts';

const [LINE_FEED, CARRIAGE_RETURN, QUOTE, COLON] = [0x0a, 0x0d, 0x22, 0x3a];

export type JsonObject = { readonly [name: string]: unknown };

export type ReadAlike =
  | { readonly ok: true; readonly value: JsonObject }
  /** `why` goes on where "the message" stops. */
  | { readonly ok: false; readonly why: string };

/**
 * Reads a line that is one object, and the same one for every reader. Of a property that `isText` takes for text a long value
 * is read as empty.
 */
export function readAlike(line: Buffer, isText: (property: string) => boolean = () => false): ReadAlike {
  if (!isUtf8(line)) return refuse('is not valid UTF-8');
  const bare = withoutLineEnd(line);
  // Some read lines that end with it, and would find other messages in this one.
  if (bare.includes(CARRIAGE_RETURN)) return refuse('holds a carriage return');
  const text = withoutLongTexts(bare, isText);
  const value = text === null ? undefined : parse(text);
  if (text === null || value === undefined) return refuse('is not valid JSON');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse('is not one object');
  const names = countNames(value);
  if (names === null) return refuse('has a name with a lone surrogate');
  if (names !== countWrittenNames(text)) return refuse('has a name twice');
  const message = value as JsonObject;
  // Readers that fold case take the last, of the message itself and of its parameters, where each name is known.
  if ([message, message.params].some(hasNameInTwoCases)) return refuse('has a name twice, in upper and lower case');
  return { ok: true, value: message };
}

function withoutLineEnd(line: Buffer): Buffer {
  const end = line.at(-1) === LINE_FEED ? -1 : line.length;
  return line.subarray(0, end === -1 && line.at(-2) === CARRIAGE_RETURN ? -2 : end);
}

/** undefined: no JSON. */
function parse(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString('utf8'));
  } catch {
    return undefined;
  }
}

function refuse(why: string): ReadAlike {
  return { ok: false, why };
}

function hasNameInTwoCases(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const names = Object.keys(value);
  return new Set(names.map(foldCase)).size < names.length;
}

/** The value of a member, also under a name in another case. */
export function memberInAnyCase(object: JsonObject, name: string): unknown {
  return Object.entries(object).find(([written]) => foldCase(written) === name)?.[1];
}

/** The members of all objects; null: one has a name that readers replace by another. */
function countNames(value: object): number | null {
  let count = 0;
  const ahead: object[] = [value];
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    if (!Array.isArray(next)) {
      const names = Object.keys(next);
      if (names.some((name) => /\p{Cs}/u.test(name))) return null;
      count += names.length;
    }
    for (const child of Object.values(next)) if (typeof child === 'object' && child !== null) ahead.push(child);
  }
  return count;
}

/** The strings in a valid JSON text that stand before a colon: more than there are members where a name stands twice. */
function countWrittenNames(text: Buffer): number {
  let count = 0;
  for (let quote = text.indexOf(QUOTE); quote !== -1; ) {
    const end = endOfString(text, quote);
    if (text[skipBlanks(text, end)] === COLON) count += 1;
    quote = text.indexOf(QUOTE, end);
  }
  return count;
}
