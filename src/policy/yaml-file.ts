// A YAML file as plain values, and where each of them stands.

import type { Position } from '../core/errors.ts';
import { positionOf, type Range, type SourceText } from './source-text.ts';

/** A JSON pointer (RFC 6901) into the file's value; empty is the whole. */
export type Pointer = string;

export interface Location {
  /** Of the key, where the value has one. */
  readonly key?: Range;
  /** Of the value; of a list or map only its first line; of an empty value its key. */
  readonly value: Range;
}

export interface YamlFile {
  readonly source: SourceText;
  readonly value: unknown;
  readonly locations: ReadonlyMap<Pointer, Location>;
  /** Values that have a problem of their own already: nothing more is said about them. */
  readonly reported: ReadonlySet<Pointer>;
}

/** Keys that could change an object's prototype. */
export const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

const WHOLE: Location = { value: [0, 0] };

/** One step further: the pointer of a key or an index. */
export function pointerTo(parent: Pointer, key: string | number): Pointer {
  // Asked for every value of a file, and hardly any key needs more.
  if (typeof key === 'number' || !/[~/]/.test(key)) return `${parent}/${key}`;
  return `${parent}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The keys and indexes of a pointer. */
export function stepsOf(pointer: Pointer): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The position of a value. */
export function positionOfValue(yaml: YamlFile, pointer: Pointer): Position {
  return positionOf(yaml.source, (yaml.locations.get(pointer) ?? WHOLE).value);
}

/** The position of a key; of an item of a list, which has none, that of its value. */
export function positionOfKey(yaml: YamlFile, pointer: Pointer): Position {
  const location = yaml.locations.get(pointer) ?? WHOLE;
  return positionOf(yaml.source, location.key ?? location.value);
}

/** A value as it is written. */
export function writtenValue(yaml: YamlFile, pointer: Pointer): string {
  const [start, end] = (yaml.locations.get(pointer) ?? WHOLE).value;
  return yaml.source.text.slice(start, end);
}
