// One fault that ajv found -> what is wrong, where, and what to do, in our words.

import { hasControlOrBidi } from '../core/display.ts';
import { type Code, type Params, type Problem, problem } from '../core/errors.ts';
import { hintFor } from './nearest.ts';
import { clip } from './source-text.ts';
import {
  type Pointer,
  pointerTo,
  positionOfKey,
  positionOfValue,
  stepsOf,
  writtenValue,
  type YamlFile,
} from './yaml-file.ts';

/** What we read of ajv's ErrorObject (`verbose`). */
export interface SchemaFault {
  readonly keyword: string;
  readonly instancePath: Pointer;
  readonly schemaPath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly propertyName?: string;
  readonly data?: unknown;
  readonly schema?: unknown;
  readonly parentSchema?: {
    readonly description?: string;
    readonly enum?: readonly unknown[];
    readonly pattern?: string;
    readonly patternErrorMessage?: string;
    readonly properties?: Readonly<Record<string, unknown>>;
  };
}

/** Keywords that only say that another one failed. */
const SILENT = new Set(['if', 'propertyNames']);

/** The problem that a fault stands for; none where another fault says it better. */
export function schemaProblem(yaml: YamlFile, fault: SchemaFault): Problem[] {
  if (SILENT.has(fault.keyword) || /\/oneOf\/\d/.test(fault.schemaPath)) return [];
  const { instancePath: at } = fault;
  const atKey = (code: Code, params: Params, pointer = at) => [problem(code, positionOfKey(yaml, pointer), params)];
  const atValue = (code: Code, params: Params) => [problem(code, positionOfValue(yaml, at), params)];
  const subject = subjectOf(at);
  switch (fault.keyword) {
    case 'additionalProperties':
      return [unknownKey(yaml, fault)];
    case 'required':
      return atKey('SCHEMA_MISSING_KEY', { subject, key: String(fault.params.missingProperty) });
    case 'oneOf':
      return atKey('SCHEMA_ONE_OF', { subject, ...choiceOf(fault) });
    case 'not':
      return atKey('SCHEMA_MISPLACED_KEY', { key: lastStep(at), why: fault.parentSchema?.description ?? '' });
    case 'type':
      return [typeProblem(yaml, fault)];
    case 'maxItems':
      return atValue('SCHEMA_TOO_MANY', { subject, limit: String(fault.params.limit) });
    case 'minItems':
    case 'minLength':
    case 'minProperties':
      return atValue('SCHEMA_EMPTY', { subject });
    case 'format':
      return atValue('SCHEMA_HIDDEN_CHARACTER', { subject, character: hiddenIn(String(fault.data)) });
    case 'pattern':
      return [patternProblem(yaml, fault)];
    default:
      return atValue('SCHEMA_VALUE', { subject, value: shown(fault.data), expected: expectedOf(fault) });
  }
}

function unknownKey(yaml: YamlFile, fault: SchemaFault): Problem {
  const key = String(fault.params.additionalProperty);
  const where = fault.instancePath === '' ? '' : ` in ${subjectOf(fault.instancePath).replace(/^The /, 'the ')}`;
  const hint = hintFor(key, Object.keys(fault.parentSchema?.properties ?? {}), 'No key can stand here');
  const at = positionOfKey(yaml, pointerTo(fault.instancePath, key));
  return problem('SCHEMA_UNKNOWN_KEY', at, { key: clip(key), where, hint });
}

function typeProblem(yaml: YamlFile, fault: SchemaFault): Problem {
  const { data, instancePath: pointer, parentSchema } = fault;
  const at = positionOfValue(yaml, pointer);
  const params = { subject: subjectOf(pointer), actual: kindOf(data), value: clip(writtenValue(yaml, pointer)) };
  const types = [fault.params.type].flat().map(String);
  const isScalar = data === null || typeof data !== 'object';
  if (types.includes('array') && isScalar && !types.includes('string')) return problem('SCHEMA_LIST', at, params);
  const words = parentSchema?.enum;
  if (words !== undefined && isScalar && !words.includes(params.value)) {
    return problem('SCHEMA_VALUE', at, { ...params, value: shown(data), expected: choice(words) });
  }
  if (types.includes('boolean')) return problem('SCHEMA_BOOLEAN', at, params);
  if (parentSchema?.patternErrorMessage !== undefined && !fits(parentSchema.pattern, params.value)) {
    return problem('SCHEMA_TYPE', at, { ...params, expected: parentSchema.patternErrorMessage });
  }
  if (types.includes('string') && isScalar) return problem('SCHEMA_QUOTES', at, params);
  return problem('SCHEMA_TYPE', at, {
    ...params,
    expected: types.map((type) => TYPE_WORDS[type] ?? type).join(' or '),
  });
}

function fits(pattern: string | undefined, text: string): boolean {
  return pattern === undefined || new RegExp(pattern, 'u').test(text);
}

function patternProblem(yaml: YamlFile, fault: SchemaFault): Problem {
  const expected = fault.parentSchema?.patternErrorMessage ?? 'spelled otherwise';
  const key = fault.propertyName;
  if (key === undefined) {
    const params = { subject: subjectOf(fault.instancePath), value: clip(String(fault.data)), expected };
    return problem('SCHEMA_PATTERN', positionOfValue(yaml, fault.instancePath), params);
  }
  const at = positionOfKey(yaml, pointerTo(fault.instancePath, key));
  return problem('SCHEMA_PATTERN', at, { subject: 'The name', value: clip(key), expected });
}

function choiceOf({ data, schema }: SchemaFault): { found: string; keys: string } {
  const keys = (schema as readonly { required: readonly string[] }[]).flatMap(({ required }) => required);
  const found = keys.filter((key) => Object.hasOwn(data as object, key));
  const listed = found.map((key) => `"${key}"`).join(' and ');
  return { found: listed === '' ? 'none of them' : listed, keys: keys.join(', ') };
}

function expectedOf({ keyword, schema, params }: SchemaFault): string {
  if (keyword === 'enum') return choice(params.allowedValues as readonly unknown[]);
  if (keyword === 'const') return String(schema);
  if (keyword === 'minimum') return `at least ${schema}`;
  if (keyword === 'maximum') return `at most ${schema}`;
  return `valid (${keyword})`;
}

function choice(words: readonly unknown[]): string {
  return words.join(', ').replace(/, ([^,]*)$/, ' or $1');
}

/** What a pointer points at, for a sentence: `The file`, `"access"`, `Item 2 of "rules"`. */
function subjectOf(pointer: Pointer): string {
  const steps = stepsOf(pointer);
  const last = steps.at(-1);
  if (last === undefined) return 'The file';
  const parent = steps.at(-2);
  return /^\d+$/.test(last) && parent !== undefined
    ? `Item ${Number(last) + 1} of "${clip(parent)}"`
    : `"${clip(last)}"`;
}

function lastStep(pointer: Pointer): string {
  return stepsOf(pointer).at(-1) ?? '';
}

function hiddenIn(text: string): string {
  const character = [...text].find((one) => hasControlOrBidi(one)) ?? '';
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

function shown(value: unknown): string {
  return typeof value === 'string' ? `"${clip(value)}"` : String(value);
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  object: 'a map',
  array: 'a list',
  string: 'text',
  integer: 'a whole number',
  boolean: 'true or false',
};

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (value === null) return 'null';
  if (typeof value === 'object') return 'a map';
  return typeof value === 'string' ? `the text "${clip(value)}"` : `the ${typeof value} ${String(value)}`;
}
