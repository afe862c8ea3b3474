// Candidates of a completion, the best first: exact, prefix, start of a word, subsequence; of equal rank the shorter one,
// then by code point. All but "exact" is blind to case and to how a character is composed; what is offered is the name as
// it is.

/** At most so many values are told, as the protocol says. */
export const MAX_VALUES = 100;

export interface Ranked<T> {
  /** The best ones, at most MAX_VALUES. */
  readonly best: readonly T[];
  /** Of all that match. */
  readonly total: number;
}

export interface Rated<T> {
  readonly candidate: T;
  readonly text: string;
  readonly rank: number;
}

/** So many texts are looked at in one step. */
const STEP = 64;
/** So many of the best are kept until they are sorted, and the rest of them dropped. */
const MAX_UNSORTED = 2 * MAX_VALUES;

/** Ranks texts, a few a step: there may be a hundred thousand. */
export function* rankInSteps<T>(
  query: string,
  candidates: Iterable<T>,
  textOf: (candidate: T) => string,
): Generator<void, Ranked<T>> {
  const folded = fold(query);
  const matching: Rated<T>[] = [];
  let looked = 0;
  for (const candidate of candidates) {
    const text = textOf(candidate);
    const rank = rankOf(query, folded, text);
    if (rank !== null) matching.push({ candidate, text, rank });
    looked += 1;
    if (looked % STEP === 0) yield;
  }
  const best = yield* bestOf(matching);
  return { best: best.map(({ candidate }) => candidate), total: matching.length };
}

const EXACT = 0;
const PREFIX = 1;
const WORD = 2;
const SUBSEQUENCE = 3;

/** null: no match. */
function rankOf(query: string, folded: string, text: string): number | null {
  if (text === query) return EXACT;
  if (folded === '') return PREFIX;
  const name = fold(text);
  if (name.startsWith(folded)) return PREFIX;
  if (startsWord(folded, name, text)) return WORD;
  return isSubsequence(folded, name) ? SUBSEQUENCE : null;
}

/** Case and composition taken away. Most names need no more than the one. */
function fold(text: string): string {
  return (isAscii(text) ? text : text.normalize('NFC')).toLowerCase();
}

function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/.test(text);
}

function startsWord(folded: string, name: string, text: string): boolean {
  // Where folding has moved characters, the humps of the text are not where they were.
  const shape = name.length === text.length ? text : name;
  for (let at = name.indexOf(folded, 1); at !== -1; at = name.indexOf(folded, at + 1)) {
    if (isWordStart(shape, at)) return true;
  }
  return false;
}

/** After what is neither letter nor digit, or at a hump: `fooBar`. */
function isWordStart(text: string, at: number): boolean {
  const [before = '', here = ''] = [text[at - 1], text[at]];
  if (!/[\p{Letter}\p{Mark}\p{Number}\p{Surrogate}]/u.test(before)) return true;
  return /\p{Uppercase}/u.test(here) && !/\p{Uppercase}/u.test(before);
}

function isSubsequence(folded: string, name: string): boolean {
  let at = 0;
  for (const character of folded) {
    at = name.indexOf(character, at);
    if (at === -1) return false;
    at += character.length;
  }
  return true;
}

/** Not all are sorted: each is compared with the worst of the best, and few are better. */
function* bestOf<T>(matching: readonly Rated<T>[]): Generator<void, readonly Rated<T>[]> {
  let best: Rated<T>[] = [];
  let worst: Rated<T> | undefined;
  let looked = 0;
  for (const rated of matching) {
    if (worst === undefined || compare(rated, worst) < 0) best.push(rated);
    if (best.length >= MAX_UNSORTED) {
      best = best.sort(compare).slice(0, MAX_VALUES);
      worst = best.at(-1);
    }
    looked += 1;
    if (looked % STEP === 0) yield;
  }
  return best.sort(compare).slice(0, MAX_VALUES);
}

function compare<T>(a: Rated<T>, b: Rated<T>): number {
  return a.rank - b.rank || byLength(a.text, b.text);
}

/** The shorter one first, then by code point. */
export function byLength(a: string, b: string): number {
  return a.length - b.length || byCodePoint(a, b);
}

/** Of texts of one length. */
function byCodePoint(a: string, b: string): number {
  for (let at = 0; at < a.length; at++) {
    const difference = placeOf(a.charCodeAt(at)) - placeOf(b.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return 0;
}

/** JavaScript compares units: what lies beyond the basic plane, in two surrogates, would come before the last part of that. */
function placeOf(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x1_0000 : unit;
}
