// Words of the schemas: what a name, a path, an access or a list is, said once.
//
// Beside draft-07 there are two terms: `patternErrorMessage` (known to editors) says what a pattern wants, and the format
// `plain-text` refuses control, bidi and other invisible characters.

import { NAME_PATTERN } from '../core/rule.ts';

export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

const NAME_RULE = 'a name: at most 100 letters, digits, ".", "_" and "-", with a letter or digit first';

/** A name of a root, server, host, prompt or rule. */
export function nameOf(description: string, extra: JsonSchema = {}): JsonSchema {
  return { type: 'string', pattern: NAME_PATTERN, patternErrorMessage: NAME_RULE, description, ...extra };
}

/** One line or more of text for people. */
export function textOf(description: string, extra: JsonSchema = {}): JsonSchema {
  return { type: 'string', minLength: 1, description, ...extra };
}

/** A text without invisible characters: a path, a title, an argument. */
export function plainText(description: string, extra: JsonSchema = {}): JsonSchema {
  return { type: 'string', minLength: 1, format: 'plain-text', description, ...extra };
}

export function oneOfWords(words: readonly string[], description: string, extra: JsonSchema = {}): JsonSchema {
  return { type: 'string', enum: words, description, ...extra };
}

export function flag(description: string, extra: JsonSchema = {}): JsonSchema {
  return { type: 'boolean', description, ...extra };
}

/** A list that holds something. */
export function listOf(items: JsonSchema, description: string, extra: JsonSchema = {}): JsonSchema {
  return { type: 'array', minItems: 1, items, description, ...extra };
}

/** A map with fixed keys. */
export function mapWith(properties: Readonly<Record<string, JsonSchema>>, description: string, extra: JsonSchema = {}) {
  return { type: 'object', additionalProperties: false, properties, description, ...extra };
}

/** A map from names to entries of one kind. */
export function mapOfNames(entry: JsonSchema, description: string, extra: JsonSchema = {}): JsonSchema {
  return { type: 'object', propertyNames: nameOf('A name.'), additionalProperties: entry, description, ...extra };
}

/** For `else`: a key that must not stand there, and why. */
export function misplaced(why: string): JsonSchema {
  return { not: {}, description: why };
}

/** Exactly one of these keys. */
export function exactlyOne(keys: readonly string[]): JsonSchema {
  return { oneOf: keys.map((key) => ({ required: [key] })) };
}

export const VERSION: JsonSchema = {
  type: 'integer',
  const: 1,
  description: 'The version of this language.',
  examples: [1],
};

export function accessOf(description: string, extra: JsonSchema = {}): JsonSchema {
  return oneOfWords(['read-only', 'read-write'], description, extra);
}
