// Changes members of a JSON text and leaves every other byte as it was: numbers, escapes, blanks, unknown members.
// It works on the bytes of a line, so that a long one is neither decoded nor copied. A text that is no JSON is read without
// fault to some end; what is made of it is no JSON either.

/** Where a value stands; the bytes from `start` to `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The value of a member, and where its key begins. */
export interface Member extends Span {
  readonly key: string;
  readonly keyStart: number;
}

/** Other bytes in place of a span. */
export interface Edit extends Span {
  readonly bytes: Uint8Array;
}

/** Up to this length one write of a copy is cheaper than several writes. */
const COPIED_BYTES = 65_536;
const NOTHING = Buffer.alloc(0);
const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d];

/** The members of the object that starts at `open`, in order. */
function membersOf(text: Buffer, open: number): readonly Member[] {
  const members: Member[] = [];
  let at = skipBlanks(text, open + 1);
  while (text[at] === QUOTE) {
    const keyEnd = endOfString(text, at);
    const start = skipBlanks(text, skipBlanks(text, keyEnd) + 1);
    const end = endOfValue(text, start);
    members.push({ key: readKey(text.toString('utf8', at, keyEnd)), keyStart: at, start, end });
    at = skipBlanks(text, end);
    if (text[at] === COMMA) at = skipBlanks(text, at + 1);
  }
  return members;
}

/** The elements of the array that starts at `open`. */
export function elementsOf(text: Buffer, open: number): readonly Buffer[] {
  const elements: Buffer[] = [];
  let at = skipBlanks(text, open + 1);
  while (at < text.length && text[at] !== CLOSE_ARRAY) {
    const end = endOfValue(text, at);
    if (end === at) break;
    elements.push(text.subarray(at, end));
    at = skipBlanks(text, end);
    if (text[at] === COMMA) at = skipBlanks(text, at + 1);
  }
  return elements;
}

/** The member that counts: the last of that name, as JSON.parse() has it. */
export function memberOf(text: Buffer, open: number, key: string): Member | undefined {
  return membersOf(text, open).findLast((member) => member.key === key);
}

/** Where the object starts that is the whole text, or the value at that place; -1 if it is none. */
export function objectAt(text: Buffer, start = 0): number {
  const at = skipBlanks(text, start);
  return text[at] === OPEN_OBJECT ? at : -1;
}

/** Where the object starts that is the value of a member, or -1. */
export function objectOf(text: Buffer, member: Member | undefined): number {
  return member === undefined ? -1 : objectAt(text, member.start);
}

/** Is the text one object from beginning to end, as far as its brackets and quotes tell? */
export function isOneObject(text: Buffer): boolean {
  const open = objectAt(text);
  const end = open === -1 ? -1 : closingEnd(text, open);
  return end !== -1 && text[end - 1] === CLOSE_OBJECT && skipBlanks(text, end) === text.length;
}

/** Sets a member to a JSON text; a new one comes first. */
export function setMember(text: Buffer, open: number, { key, json }: { key: string; json: string | Uint8Array }): Edit {
  const member = memberOf(text, open, key);
  const value = Buffer.from(json);
  if (member !== undefined) return { start: member.start, end: member.end, bytes: value };
  const separator = text[skipBlanks(text, open + 1)] === QUOTE ? ',' : '';
  const bytes = Buffer.concat([Buffer.from(`${JSON.stringify(key)}:`), value, Buffer.from(separator)]);
  return { start: open + 1, end: open + 1, bytes };
}

/** Takes out every member of these names. */
export function removeMembers(text: Buffer, open: number, isOut: (key: string) => boolean): readonly Edit[] {
  const members = membersOf(text, open);
  const firstKept = members.findIndex(({ key }) => !isOut(key));
  return members.flatMap((member, i): readonly Edit[] => {
    if (!isOut(member.key)) return [];
    const previous = firstKept !== -1 && firstKept < i ? members[i - 1] : undefined;
    const start = previous?.end ?? member.keyStart;
    const end = previous === undefined ? (members[i + 1]?.keyStart ?? member.end) : member.end;
    return [{ start, end, bytes: NOTHING }];
  });
}

/** The edited text, of a long one in pieces. Edits at one place come in the order given; none overlaps another. */
export function applyEdits(text: Buffer, edits: readonly Edit[]): readonly Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (const { start, end, bytes } of edits.toSorted((a, b) => a.start - b.start)) {
    pieces.push(text.subarray(at, start), bytes);
    at = end;
  }
  pieces.push(text.subarray(at));
  return text.length <= COPIED_BYTES ? [Buffer.concat(pieces)] : pieces;
}

/** A key as JSON.parse() has it; one that is no JSON as it stands there. */
function readKey(quoted: string): string {
  if (!quoted.includes('\\')) return quoted.slice(1, -1);
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return quoted;
  }
}

/** Where the blanks of JSON end that begin there. */
export function skipBlanks(text: Buffer, from: number): number {
  let at = from;
  while (isBlank(text[at])) at += 1;
  return at;
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Behind the closing quote; of one that is not closed, the end of the text. */
export function endOfString(text: Buffer, quote: number): number {
  let at = text.indexOf(QUOTE, quote + 1);
  while (at !== -1 && isEscaped(text, at)) at = text.indexOf(QUOTE, at + 1);
  return at === -1 ? text.length : at + 1;
}

function isEscaped(text: Buffer, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}

function endOfValue(text: Buffer, start: number): number {
  const first = text[start];
  if (first === QUOTE) return endOfString(text, start);
  if (first === OPEN_OBJECT || first === OPEN_ARRAY) {
    const end = closingEnd(text, start);
    return end === -1 ? text.length : end;
  }
  let at = start;
  while (at < text.length && !isEndOfScalar(text[at])) at += 1;
  return at;
}

function isEndOfScalar(byte: number | undefined): boolean {
  return byte === COMMA || byte === CLOSE_ARRAY || byte === CLOSE_OBJECT || isBlank(byte);
}

/** Behind the bracket that closes the one at `start`, or -1. */
function closingEnd(text: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const byte = text[at];
    if (byte === QUOTE) at = endOfString(text, at) - 1;
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth += 1;
    else if ((byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) && --depth === 0) return at + 1;
  }
  return -1;
}
