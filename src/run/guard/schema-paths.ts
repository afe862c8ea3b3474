// What the input schema of a tool says of paths: by the names of properties, wherever these stand in a call, and where the
// names are the caller's own (`additionalProperties` and the like) by walking schema and arguments together. Of several
// branches (`anyOf`, `if` …) each may hold. The schema is the server's word: nothing in it is run, and of one that is
// huge or refers to itself no more is read than there is.

import { foldName } from './path-names.ts';

/** JSON Schema has only `uri`; the others are what generators of schemas write. */
const PATH_FORMAT = /^(?:path|file|uri|uri-reference|(?:file|directory)-?path)$/;
/** Hold data, not schemas. */
const DATA: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples']);
/** For members whose names are not known; of `patternProperties` no pattern is tried, since one can take for ever. */
const OF_UNNAMED: ReadonlySet<string> = new Set(['additionalProperties', 'unevaluatedProperties', 'patternProperties']);
/** For the same value as the schema that holds them. */
const BRANCHES = ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'dependentSchemas', 'dependencies'] as const;
const OF_ELEMENTS = ['items', 'prefixItems', 'additionalItems', 'contains', 'unevaluatedItems'] as const;
/** Of a schema for which there are more steps the rest is not looked at. */
const MAX_STEPS = 20_000;

type Schema = Readonly<Record<string, unknown>>;
/** Schemas that hold for one value. */
export type Applicable = readonly Schema[];

const NONE: Applicable = [];

export class SchemaPaths {
  /** Names of properties that hold paths, folded. */
  readonly names: ReadonlySet<string>;
  readonly #root: Schema;
  /** Do names not tell all? */
  readonly #hasUnnamed: boolean;
  readonly #branches = new Map<Schema, Applicable>();
  /** Of each schema its properties, by their folded names. */
  readonly #properties = new Map<Schema, ReadonlyMap<string, Applicable>>();

  /** `schema`: of the arguments; what is none says nothing. */
  constructor(schema: unknown) {
    this.#root = isSchema(schema) ? schema : {};
    const { names, hasUnnamed } = readNames(this.#root);
    this.names = names;
    this.#hasUnnamed = hasUnnamed;
  }

  /** What holds for all arguments together; empty where names tell everything. */
  get whole(): Applicable {
    return this.#hasUnnamed ? this.#branchesOf(this.#root) : NONE;
  }

  /** What holds for a member of an object. */
  member(applicable: Applicable, name: string): Applicable {
    if (applicable.length === 0) return NONE;
    const folded = foldName(name);
    return this.#all(
      applicable.flatMap((schema) => this.#propertiesOf(schema).get(folded) ?? schemasOfUnnamed(schema)),
    );
  }

  /** What holds for the elements of an array. */
  elements(applicable: Applicable): Applicable {
    return this.#all(applicable.flatMap((schema) => OF_ELEMENTS.flatMap((key) => schemasAt(schema[key]))));
  }

  /** What holds for the names of an object's members. */
  memberNames(applicable: Applicable): Applicable {
    return this.#all(applicable.flatMap(({ propertyNames }) => schemasAt(propertyNames)));
  }

  #all(schemas: Applicable): Applicable {
    return schemas.length === 0 ? NONE : [...new Set(schemas.flatMap((schema) => this.#branchesOf(schema)))];
  }

  #propertiesOf(schema: Schema): ReadonlyMap<string, Applicable> {
    const known = this.#properties.get(schema);
    if (known !== undefined) return known;
    const read = readProperties(schema);
    this.#properties.set(schema, read);
    return read;
  }

  /** A schema with all that hold wherever it does. */
  #branchesOf(schema: Schema): Applicable {
    const known = this.#branches.get(schema);
    if (known !== undefined) return known;
    const found = new Set([schema]);
    // A Set gives what is added to it while one goes through it.
    for (const one of found) {
      for (const branch of BRANCHES.flatMap((key) => branchesAt(one, key))) found.add(branch);
      const target = referred(this.#root, one);
      if (target !== null) found.add(target);
    }
    this.#branches.set(schema, [...found]);
    return [...found];
  }
}

/** Is a value that one of these holds for a path? */
export function arePaths(applicable: Applicable): boolean {
  return applicable.some(isPath);
}

function isPath({ format }: Schema): boolean {
  return typeof format === 'string' && PATH_FORMAT.test(format);
}

function branchesAt(schema: Schema, key: (typeof BRANCHES)[number]): Applicable {
  const value = schema[key];
  const isMap = key === 'dependentSchemas' || key === 'dependencies';
  return isMap && isSchema(value) ? Object.values(value).filter(isSchema) : schemasAt(value);
}

/** Names of one spelling are one to some readers. */
function readProperties({ properties }: Schema): ReadonlyMap<string, Applicable> {
  const read = new Map<string, Applicable>();
  for (const [name, value] of isSchema(properties) ? Object.entries(properties) : []) {
    const folded = foldName(name);
    read.set(folded, [...(read.get(folded) ?? []), ...schemasAt(value)]);
  }
  return read;
}

function schemasOfUnnamed({ additionalProperties, unevaluatedProperties, patternProperties }: Schema): Applicable {
  const patterns = isSchema(patternProperties) ? Object.values(patternProperties).filter(isSchema) : [];
  return [...schemasAt(additionalProperties), ...schemasAt(unevaluatedProperties), ...patterns];
}

/** A schema, or a list of them. */
function schemasAt(value: unknown): Applicable {
  if (Array.isArray(value)) return value.filter(isSchema);
  return isSchema(value) ? [value] : NONE;
}

/** The schema in the same document that `$ref` names; null: there is none, or it lies elsewhere. */
function referred(root: Schema, { $ref }: Schema): Schema | null {
  if (typeof $ref !== 'string' || !$ref.startsWith('#')) return null;
  let at: unknown = root;
  for (const part of $ref.split('/').slice(1)) {
    const key = pointerKey(part);
    if (typeof at !== 'object' || at === null || key === null || !Object.hasOwn(at, key)) return null;
    at = (at as Schema)[key];
  }
  return isSchema(at) && ($ref === '#' || $ref.startsWith('#/')) ? at : null;
}

/** RFC 6901, in a URI */
function pointerKey(part: string): string | null {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return null;
  }
}

interface Place {
  readonly node: unknown;
  /** null: it is the caller's own. */
  readonly name: string | null;
}

/** All properties of paths, at any depth; of an array its elements are meant. */
function readNames(root: Schema): { readonly names: ReadonlySet<string>; readonly hasUnnamed: boolean } {
  const names = new Set<string>();
  /** By node, the names under which it was read. */
  const seen = new Map<object, Set<string | null>>();
  const ahead: Place[] = [{ node: root, name: '' }];
  let hasUnnamed = false;
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    const next = ahead.pop();
    if (next === undefined) break;
    const { node, name } = next;
    if (typeof node !== 'object' || node === null) continue;
    const before = seen.get(node);
    if (before?.has(name)) continue;
    if (before === undefined) seen.set(node, new Set([name]));
    else before.add(name);
    if (isPath(node as Schema)) {
      if (name === null) hasUnnamed = true;
      else names.add(foldName(name));
    }
    ahead.push({ node: referred(root, node as Schema), name });
    for (const [key, child] of Object.entries(node)) {
      // Of members the name is their own, under whichever name the object stands.
      if (key !== 'properties') ahead.push(...placesAt(key, child, name));
      else if (before === undefined && isSchema(child)) pushMembers(ahead, child);
    }
  }
  return { names, hasUnnamed };
}

function placesAt(key: string, node: unknown, name: string | null): readonly Place[] {
  if (DATA.has(key)) return [];
  return [{ node, name: key === 'propertyNames' || OF_UNNAMED.has(key) ? null : name }];
}

function pushMembers(ahead: Place[], properties: Schema): void {
  for (const [name, node] of Object.entries(properties)) ahead.push({ node, name });
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
