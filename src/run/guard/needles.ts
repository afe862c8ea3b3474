// Does a line hold the name of a method that the guard judges, in whatever member? It may stand there as it is, or behind an
// escape: of its slash, or of any character.

import { NAMES_PLACES } from '../../core/protocol.ts';

const SLASH = 0x2f;
const NEEDLES = [...NAMES_PLACES, '\\/'];
const BEFORE_SLASH = new Set(NEEDLES.map((needle) => needle.charCodeAt(needle.indexOf('/') - 1)));
/** A line with more of them is searched for each needle. */
const MAX_SLASHES = 16;

/** Most messages have few slashes: to look at these is cheaper than to search for each needle. */
export function mayHoldNeedle(line: Buffer): boolean {
  if (line.includes('\\u00')) return true;
  let at = line.indexOf(SLASH);
  for (let seen = 0; at !== -1; seen += 1) {
    if (seen === MAX_SLASHES || BEFORE_SLASH.has(line[at - 1] ?? 0)) return NEEDLES.some((one) => line.includes(one));
    at = line.indexOf(SLASH, at + 1);
  }
  return false;
}
