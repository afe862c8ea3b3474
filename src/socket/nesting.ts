const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/** No message of ours is nearly as deep. */
export const MAX_NESTING = 128;

/**
 * Is this JSON text nested deeper than any message may be? Looked at before it is parsed, since parsing two million
 * brackets stops everybody for most of a second. A text that is no JSON may get either answer.
 */
export function isTooDeep(text: Uint8Array, limit = MAX_NESTING): boolean {
  // A short text cannot cost much, and most are short.
  if (text.length <= limit * 16) return false;
  let depth = 0;
  let isInString = false;
  for (let i = 0; i < text.length; i += 1) {
    const byte = text[i] ?? 0;
    if (isInString) {
      if (byte === BACKSLASH) i += 1;
      else if (byte === QUOTE) isInString = false;
    } else if (byte === QUOTE) isInString = true;
    else if (OPENING.has(byte)) depth += 1;
    else if (CLOSING.has(byte)) depth -= 1;
    if (depth > limit) return true;
  }
  return false;
}
