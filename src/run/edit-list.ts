// A value in the text of a settings file, read and replaced. Pure, and loaded only where a server is told by such a file.

import { applyEdits, modify, type ParseError, parse as parseJson, printParseErrorCode } from 'jsonc-parser';
import { parse as parseToml, stringify as stringifyToml } from 'smol-toml';
import { parseDocument } from 'yaml';
import type { ConfigFormat } from '../core/server-traits.ts';

/** Where the value is. */
export interface ValuePlace {
  readonly format: ConfigFormat;
  readonly key: readonly string[];
}

/** The value, or undefined where there is none. Throws an Error where the text is not of that format. */
export function readValue(text: string, { format, key }: ValuePlace): unknown {
  let value: unknown = parsers[format](text);
  for (const step of key) {
    value = isMap(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}

/**
 * The text with another value; undefined takes it away. Comments stay in JSON and YAML; TOML is written anew without them.
 * Throws an Error where the text is not of that format.
 */
export function editValue(text: string, place: ValuePlace, value: unknown): string {
  parsers[place.format](text);
  return editors[place.format](text, place.key, value);
}

const parsers: Readonly<Record<ConfigFormat, (text: string) => unknown>> = {
  json(text) {
    if (text.trim() === '') return {};
    const errors: ParseError[] = [];
    const value: unknown = parseJson(text, errors, { allowTrailingComma: true });
    const [error] = errors;
    if (error !== undefined) throw new Error(`it is not JSON (${printParseErrorCode(error.error)})`);
    return value;
  },
  yaml(text) {
    const document = parseDocument(text);
    const [error] = document.errors;
    if (error !== undefined) throw new Error(`it is not YAML (${error.code})`);
    return document.toJS();
  },
  toml(text) {
    try {
      return parseToml(text);
    } catch {
      throw new Error('it is not TOML');
    }
  },
};

const editors: Readonly<Record<ConfigFormat, (text: string, key: readonly string[], value: unknown) => string>> = {
  json(text, key, value) {
    const whole = text.trim() === '' ? '{}\n' : text;
    const formattingOptions = { insertSpaces: true, tabSize: 2, eol: text.includes('\r\n') ? '\r\n' : '\n' };
    return applyEdits(whole, modify(whole, [...key], value, { formattingOptions }));
  },
  yaml(text, key, value) {
    const document = parseDocument(text);
    if (value === undefined) document.deleteIn(key);
    else document.setIn(key, document.createNode(value));
    return document.toString({ lineWidth: 0 });
  },
  toml(text, key, value) {
    const whole = parseToml(text);
    let map: Record<string, unknown> = whole;
    for (const step of key.slice(0, -1)) {
      const next = map[step];
      const inner = isMap(next) ? next : {};
      map[step] = inner;
      map = inner;
    }
    const last = key.at(-1) ?? '';
    if (value === undefined) delete map[last];
    else map[last] = value;
    return stringifyToml(whole);
  },
};

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
