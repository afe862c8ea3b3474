// Bytes to text, before any YAML: size, strict UTF-8, byte-order mark, invisible characters (docs/policy.md).

import { type Problem, problem, startOf } from '../core/errors.ts';
import { ProblemList } from './problem-list.ts';
import { positionOf, type SourceText, sourceText } from './source-text.ts';

const BOM = '\u{feff}';
/** What YAML 1.2 does not count as printable, a further byte-order mark, and a CR that ends no line. */
const INVISIBLE = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufeff\ufffe\uffff]|\r(?!\n)/g;

export interface CheckedText {
  readonly source: SourceText;
  readonly problems: readonly Problem[];
}

/** Decodes a file in one strict pass. The text keeps its byte-order mark, so that it says the same bytes. */
export function decodeText(file: string, bytes: Uint8Array, maxBytes: number): string | Problem {
  if (bytes.byteLength > maxBytes) {
    return problem('FILE_TOO_LARGE', startOf(file), { size: bytes.byteLength, limit: maxBytes });
  }
  return decode(bytes, bytes.byteLength) ?? encodingProblem(file, bytes);
}

/** Looks for characters that nobody sees. With a problem in it, the text must not be read any further. */
export function checkText(file: string, text: string): CheckedText {
  const source = sourceText(file, text.startsWith(BOM) ? text.slice(1) : text);
  const problems = new ProblemList(source);
  for (const match of source.text.matchAll(INVISIBLE)) {
    if (problems.isFull) break;
    refuseInvisible(problems, match[0], match.index);
  }
  return { source, problems: problems.all };
}

function refuseInvisible(problems: ProblemList, character: string, at: number): void {
  const name = `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
  const code = character === BOM ? 'YAML_BYTE_ORDER_MARK' : 'YAML_INVISIBLE';
  problems.add(code, [at, at + 1], { character: name });
}

/** Points at the first byte that is not part of a UTF-8 character. */
function encodingProblem(file: string, bytes: Uint8Array): Problem {
  let good = 0;
  let bad = bytes.byteLength;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (decode(bytes, middle, true) === null) bad = middle;
    else good = middle;
  }
  const valid = decode(bytes, good, true) ?? '';
  const text = valid.startsWith(BOM) ? valid.slice(1) : valid;
  const source = sourceText(file, text);
  const byte = `0x${(bytes[Buffer.byteLength(valid)] ?? 0).toString(16).toUpperCase().padStart(2, '0')}`;
  const at = positionOf(source, [text.length, text.length]);
  return problem('YAML_ENCODING', at, { byte });
}

/** null where the first `length` bytes are not UTF-8; `partial`: the last character may be cut off. */
function decode(bytes: Uint8Array, length: number, partial = false): string | null {
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    return decoder.decode(bytes.subarray(0, length), { stream: partial });
  } catch {
    return null;
  }
}
