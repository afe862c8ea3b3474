import { distance } from 'fastest-levenshtein';

/** Longer words are no slips of the pen, and comparing them would take long. */
const MAX_LENGTH = 100;
/** A help for people, not worth the time that ten thousand names would take for each of ten thousand slips. */
const MAX_CANDIDATES = 500;

/** The word that was probably meant, or undefined where none is close. */
export function nearestOf(word: string, words: Iterable<string>): string | undefined {
  if (word.length > MAX_LENGTH) return undefined;
  // Two letters changed places is a distance of 2; among the shortest words that would make all of them close.
  const limit = word.length <= 3 ? 1 : Math.max(2, Math.floor(word.length / 3));
  let best: { readonly word: string; readonly distance: number } | undefined;
  let compared = 0;
  for (const candidate of words) {
    if (Math.abs(candidate.length - word.length) > limit) continue;
    compared += 1;
    if (compared > MAX_CANDIDATES) break;
    const found = distance(word.toLowerCase(), candidate.toLowerCase());
    if (found <= limit && (best === undefined || found < best.distance)) best = { word: candidate, distance: found };
  }
  return best?.word;
}

/** A hint that names the word that was probably meant, else all of them. */
export function hintFor(word: string, words: readonly string[], none: string): string {
  const near = nearestOf(word, words);
  if (near !== undefined) return `Did you mean "${near}"?`;
  return words.length === 0 ? none : `One of: ${words.slice(0, 20).join(', ')}${words.length > 20 ? ', …' : ''}`;
}
