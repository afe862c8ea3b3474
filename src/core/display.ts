// Strings that a peer, a file name or a policy supplies, made safe to print: nothing hidden, nothing that moves the
// cursor or the reading direction. For people; `--json` keeps the exact text (toJson() only writes it in ASCII escapes).

// Control (Cc), format (Cf: bidi, zero width), surrogates, private use, line and paragraph separators, what fonts are
// told not to draw, every blank but the plain one, and the braille blank. Made when it is wanted: what a class of Unicode
// holds is loaded when an expression with one is made, which takes a millisecond.
const hidden = (): RegExp =>
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2800]/gu;
const controlOrBidi = (): RegExp => /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** The text with control, bidi and invisible characters as `\n`, `\x1b`, `\u202e` or `\u{e0001}`. */
export function escapeForTerminal(text: string): string {
  return text.replace(hidden(), (character) => SHORT[character] ?? escapeCodePoint(character.codePointAt(0) ?? 0));
}

/** JSON of a value, in which hidden characters are written as `\uXXXX`: safe on a terminal, the same value when parsed. */
export function toJson(value: unknown, indent?: number): string {
  return escapeHiddenInJson(JSON.stringify(value, null, indent));
}

/** JSON text with hidden characters written as `\uXXXX`. Outside of strings JSON is ASCII, so what is replaced is in one. */
export function escapeHiddenInJson(json: string): string {
  // A line break between tokens is layout, not content: inside strings JSON.stringify() has escaped it already.
  return json.replace(hidden(), (character) => (character === '\n' ? '\n' : escapeUnits(character)));
}

/** A path as a shell takes it, in quotes where it needs them: for a line that a person pastes. */
export function shellQuoted(path: string): string {
  return /^[\w/.@%+,:-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** Does the text hold a control, line-breaking, bidi or lone surrogate character? Such names are refused in policies. */
export function hasControlOrBidi(text: string): boolean {
  return controlOrBidi().test(text);
}

function escapeCodePoint(code: number): string {
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${code.toString(16).padStart(4, '0')}` : `\\u{${code.toString(16)}}`;
}

function escapeUnits(character: string): string {
  let escaped = '';
  for (let i = 0; i < character.length; i++) escaped += `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`;
  return escaped;
}
