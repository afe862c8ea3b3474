// Lines of the log and of the audit file. Strings in them come from peers, file names and policies: a line must stay one
// line, must not steer a terminal that shows it, and must be made whatever is in the fields.

import { escapeHiddenInJson } from './display.ts';
import { flattenError } from './flatten-error.ts';

/** Longer strings are cut: a line stays a line. A path has at most 4,096 bytes. */
const MAX_STRING = 8_192;

export interface JsonLineOptions {
  /** Give the stacks of bugs (flattenError()). */
  readonly withStack?: boolean;
}

/**
 * One JSON object as text without a line break. Never throws: what cannot be written is replaced by a word on why.
 * Control, bidi and invisible characters are written as `\uXXXX`: a JSON parser gives them back as they were.
 */
export function jsonLine(fields: Readonly<Record<string, unknown>>, options: JsonLineOptions = {}): string {
  return escapeHiddenInJson(stringify(fields, options));
}

function stringify(fields: Readonly<Record<string, unknown>>, options: JsonLineOptions): string {
  const replace = replacer(options);
  try {
    return JSON.stringify(fields, replace);
  } catch {
    return JSON.stringify(
      Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, safe(value, replace)])),
    );
  }
}

type Replacer = (key: string, value: unknown) => unknown;

function replacer({ withStack = false }: JsonLineOptions): Replacer {
  return (_key, value) => {
    if (typeof value === 'string') return cut(value);
    if (typeof value === 'bigint') return value.toString();
    if (value instanceof Error) return flattenError(value, { withStack });
    return value;
  };
}

/** One field of a line that could not be written as a whole: a circle, or a getter or toJSON() that throws. */
function safe(value: unknown, replace: Replacer): unknown {
  try {
    const text = JSON.stringify(value, replace) as string | undefined;
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return 'cannot be written as JSON';
  }
}

function cut(text: string): string {
  return text.length <= MAX_STRING ? text : `${text.slice(0, MAX_STRING)}… (${text.length - MAX_STRING} more)`;
}
