// The schema's verdict on a file's value, in our words and at the place of the offending token.

import { Ajv, type ValidateFunction } from 'ajv';
import { hasControlOrBidi } from '../core/display.ts';
import type { Problem } from '../core/errors.ts';
import { MAX_PROBLEMS } from './problem-list.ts';
import { SCHEMAS, type SchemaName } from './schema.ts';
import { type SchemaFault, schemaProblem } from './schema-problem.ts';
import type { Pointer, YamlFile } from './yaml-file.ts';

export interface Validated {
  readonly problems: readonly Problem[];
  /** Does this entry, or anything in it, lack the shape that compiling it takes? */
  readonly isBroken: (entry: Pointer) => boolean;
}

/** Faults after which a value is not what the code that compiles it takes it for, or would be reported twice. */
const UNUSABLE = new Set(['type', 'required', 'format', 'minLength']);

/** Finds everything in a file that its schema does not allow. */
export function validate(name: SchemaName, yaml: YamlFile): Validated {
  const check = validators(name);
  check(yaml.value);
  const faults = ((check.errors ?? []) as readonly SchemaFault[]).filter((fault) => !isKnown(yaml, fault));
  const problems = firstOfEach(faults)
    .slice(0, MAX_PROBLEMS)
    .flatMap((fault) => schemaProblem(yaml, fault));
  const unusable = faults.filter(({ keyword }) => UNUSABLE.has(keyword));
  const broken = [...yaml.reported, ...unusable.map(({ instancePath }) => instancePath)];
  return { problems, isBroken: (entry) => broken.some((at) => at === entry || at.startsWith(`${entry}/`)) };
}

/** What the reader has reported has no value, and a whole list of one word would be asked for a second time. */
function isKnown(yaml: YamlFile, { instancePath }: SchemaFault): boolean {
  for (let at = instancePath; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) if (yaml.reported.has(at)) return true;
  return false;
}

/** One fault a value: of the wrong type it cannot be one of the right words either. */
function firstOfEach(faults: readonly SchemaFault[]): SchemaFault[] {
  const wrongType = new Set(faults.filter(({ keyword }) => keyword === 'type').map(({ instancePath }) => instancePath));
  return faults.filter(({ keyword, instancePath }) => keyword === 'type' || !wrongType.has(instancePath));
}

/** Compiled at the first use: it costs tens of milliseconds, and most commands need one of them or none. */
const validators = once((name: SchemaName): ValidateFunction => {
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    messages: false,
    strictTypes: false,
    formats: { 'plain-text': (text: string) => !hasControlOrBidi(text) },
  });
  ajv.addVocabulary(['patternErrorMessage']);
  return ajv.compile(SCHEMAS[name]);
});

function once<K, V>(make: (key: K) => V): (key: K) => V {
  const made = new Map<K, V>();
  return (key) => {
    const value = made.get(key) ?? make(key);
    made.set(key, value);
    return value;
  };
}
