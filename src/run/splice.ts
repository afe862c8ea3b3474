// Changes one member in a JSON text and leaves every other byte as it was: numbers, escapes, blanks, unknown members.
// Texts are valid JSON (parsed before), as latin1: one character a byte, so that a line comes back byte for byte.

export interface Member {
  readonly key: string;
  readonly keyStart: number;
  readonly start: number;
  readonly end: number;
}

const BLANKS = /[ \t\r\n]*/y;
const SCALAR = /[^,\]} \t\r\n]*/y;

/** The members of the object that starts at `open`, in order. */
function membersOf(text: string, open: number): readonly Member[] {
  const members: Member[] = [];
  let at = skipBlanks(text, open + 1);
  while (text[at] === '"') {
    const keyEnd = endOfString(text, at);
    const start = skipBlanks(text, skipBlanks(text, keyEnd) + 1);
    const end = endOfValue(text, start);
    members.push({ key: JSON.parse(text.slice(at, keyEnd)) as string, keyStart: at, start, end });
    at = skipBlanks(text, end);
    if (text[at] === ',') at = skipBlanks(text, at + 1);
  }
  return members;
}

/** The elements of the array that starts at `open`, as texts. */
export function elementsOf(text: string, open: number): readonly string[] {
  const elements: string[] = [];
  let at = skipBlanks(text, open + 1);
  while (at < text.length && text[at] !== ']') {
    const end = endOfValue(text, at);
    elements.push(text.slice(at, end));
    at = skipBlanks(text, end);
    if (text[at] === ',') at = skipBlanks(text, at + 1);
  }
  return elements;
}

/** The member that counts: the last of that name, as JSON.parse() has it. */
export function memberOf(text: string, open: number, key: string): Member | undefined {
  return membersOf(text, open).findLast((member) => member.key === key);
}

/** Where the object starts that is the whole text, or the value of that member of it; -1 if it is none. */
export function objectAt(text: string, start = 0): number {
  const at = skipBlanks(text, start);
  return text[at] === '{' ? at : -1;
}

/** The text with this member set to a JSON text; a new one comes first. */
export function setMember(text: string, open: number, { key, json }: { key: string; json: string }): string {
  const member = memberOf(text, open, key);
  if (member !== undefined) return text.slice(0, member.start) + json + text.slice(member.end);
  const separator = membersOf(text, open).length === 0 ? '' : ',';
  return `${text.slice(0, open + 1)}"${key}":${json}${separator}${text.slice(open + 1)}`;
}

/** The text without any member of this name. */
export function removeMember(text: string, open: number, key: string): string {
  const members = membersOf(text, open);
  const index = members.findLastIndex((member) => member.key === key);
  const member = members[index];
  if (member === undefined) return text;
  const previous = members[index - 1];
  const from = previous?.end ?? member.keyStart;
  const to = previous === undefined ? (members[index + 1]?.keyStart ?? member.end) : member.end;
  return removeMember(text.slice(0, from) + text.slice(to), open, key);
}

function skipBlanks(text: string, at: number): number {
  BLANKS.lastIndex = at;
  BLANKS.test(text);
  return BLANKS.lastIndex;
}

function endOfString(text: string, quote: number): number {
  let at = text.indexOf('"', quote + 1);
  while (isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at + 1;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}

function endOfValue(text: string, start: number): number {
  const first = text[start];
  if (first === '"') return endOfString(text, start);
  if (first === '{' || first === '[') return endOfContainer(text, start);
  SCALAR.lastIndex = start;
  SCALAR.test(text);
  return SCALAR.lastIndex;
}

function endOfContainer(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at) - 1;
    else if (character === '{' || character === '[') depth += 1;
    else if ((character === '}' || character === ']') && --depth === 0) return at + 1;
  }
  return text.length;
}
