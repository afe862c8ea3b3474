// A judged call may carry a file of megabytes, as the value of a property whose values are text, whatever they look like. Of
// such a value nothing matters but that it is a string: it is looked at byte by byte, four at a time, and left out of what is
// parsed.

import { skipBlanks } from '../splice.ts';

/** Shorter ones are parsed sooner than left out. */
const LONG_BYTES = 4_096;
const [QUOTE, BACKSLASH, COLON, FIRST_PRINTABLE, SMALL_U] = [0x22, 0x5c, 0x3a, 0x20, 0x75];
/** What may stand behind a backslash, but for `u` and its four digits. */
const ESCAPED = Buffer.from('"\\/bfnrt');
const HEX_DIGITS = /^[0-9a-fA-F]{4}$/;
/** The same byte four times: what is done to a word is done to each of its bytes. */
const [QUOTES, BACKSLASHES, PRINTABLES, ONES, HIGH_BITS] = [0x22222222, 0x5c5c5c5c, 0x20202020, 0x01010101, 0x80808080];

/**
 * The line with `""` in place of each long string that stands behind the name of a property that `isText` takes for text;
 * valid JSON where the line is, and only there. null: one of them is no valid string.
 */
export function withoutLongTexts(line: Buffer, isText: (property: string) => boolean): Buffer | null {
  if (line.length < LONG_BYTES) return line;
  const strings = new Strings(line);
  const kept: Buffer[] = [];
  let from = 0;
  let previous = { start: 0, end: 0 };
  for (let start = line.indexOf(QUOTE); start !== -1; start = line.indexOf(QUOTE, previous.end)) {
    const end = strings.endOf(start);
    if (end === -1) return null;
    if (end - start > LONG_BYTES && isBehindColon(line, previous.end, start)) {
      // As it is read, not as it is written: `"\text"` is another name.
      if (isText(JSON.parse(line.toString('utf8', previous.start, previous.end)) as string)) {
        kept.push(line.subarray(from, start + 1));
        from = end - 1;
      }
    }
    previous = { start, end };
  }
  return from === 0 ? line : Buffer.concat([...kept, line.subarray(from)]);
}

function isBehindColon(line: Buffer, end: number, start: number): boolean {
  const colon = skipBlanks(line, end);
  return line[colon] === COLON && skipBlanks(line, colon + 1) === start;
}

/** Finds where strings end, and whether they are valid. */
class Strings {
  readonly #text: Buffer;
  /** The memory in which the text lies, by words; `#offset`: where it lies. */
  readonly #words: Int32Array;
  readonly #offset: number;

  constructor(text: Buffer) {
    this.#text = text;
    this.#words = new Int32Array(text.buffer, 0, (text.byteOffset + text.length) >> 2);
    this.#offset = text.byteOffset;
  }

  /** Behind the closing quote of the string that begins with this quote; -1: it is not valid, or not closed. */
  endOf(quote: number): number {
    for (let at = this.#skipPlain(quote + 1); ; at = this.#skipPlain(at)) {
      const byte = this.#text[at];
      if (byte === QUOTE) return at + 1;
      const next = byte === BACKSLASH ? this.#endOfEscape(at) : -1;
      if (next === -1) return -1;
      at = next;
    }
  }

  #endOfEscape(at: number): number {
    const byte = this.#text[at + 1] ?? 0;
    if (byte === SMALL_U) return HEX_DIGITS.test(this.#text.toString('latin1', at + 2, at + 6)) ? at + 6 : -1;
    return ESCAPED.includes(byte) ? at + 2 : -1;
  }

  /** The first byte from there on that does not stand for itself within a string, or the end of the text. */
  #skipPlain(from: number): number {
    const text = this.#text;
    let at = from;
    while ((at + this.#offset) % 4 !== 0) {
      if (at >= text.length || !isPlain(text[at] ?? 0)) return at;
      at += 1;
    }
    let word = (at + this.#offset) / 4;
    while (word < this.#words.length && !holdsOther(this.#words[word] ?? 0)) word += 1;
    at = word * 4 - this.#offset;
    while (at < text.length && isPlain(text[at] ?? 0)) at += 1;
    return at;
  }
}

function isPlain(byte: number): boolean {
  return byte >= FIRST_PRINTABLE && byte !== QUOTE && byte !== BACKSLASH;
}

/** Is one of four bytes not plain? `(x - ones) & ~x` has a high bit where a byte of x is zero ("Bit Twiddling Hacks"). */
function holdsOther(word: number): boolean {
  const quotes = word ^ QUOTES;
  const backslashes = word ^ BACKSLASHES;
  const controls = (word - PRINTABLES) & ~word;
  return ((controls | ((quotes - ONES) & ~quotes) | ((backslashes - ONES) & ~backslashes)) & HIGH_BITS) !== 0;
}
