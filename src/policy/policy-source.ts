// One policy file on its way to a layer: its entries, where they stand, and what is wrong with them.

import { type Code, type Params, type Problem, problem } from '../core/errors.ts';
import type { Layer, Source } from '../core/rule.ts';
import { parseYaml } from './parse-yaml.ts';
import type { RawLists, RawMaps } from './raw-policy.ts';
import type { SchemaName } from './schema.ts';
import { validate } from './validate.ts';
import { type Pointer, pointerTo, positionOfKey, positionOfValue, type YamlFile } from './yaml-file.ts';

export interface Entry<T> {
  readonly name: string;
  readonly pointer: Pointer;
  readonly raw: T;
}

export interface ReadSource {
  /** null: the text is no YAML. */
  readonly source: PolicySource | null;
  readonly problems: readonly Problem[];
}

/** Parses a text and holds it against its schema. */
export function readSource(schema: SchemaName, layer: Layer, file: string, text: string): ReadSource {
  const { yaml, problems } = parseYaml(file, text);
  if (yaml === null) return { source: null, problems };
  const validated = validate(schema, yaml);
  return {
    source: new PolicySource(layer, yaml, validated.isBroken),
    problems: [...problems, ...validated.problems],
  };
}

export class PolicySource {
  readonly #layer: Layer;
  readonly #yaml: YamlFile;
  readonly #isBroken: (entry: Pointer) => boolean;
  readonly #problems: Problem[] = [];

  constructor(layer: Layer, yaml: YamlFile, isBroken: (entry: Pointer) => boolean) {
    this.#layer = layer;
    this.#yaml = yaml;
    this.#isBroken = isBroken;
  }

  get value(): unknown {
    return this.#yaml.value;
  }

  get problems(): readonly Problem[] {
    return this.#problems;
  }

  /** Reports an error at a value. */
  refuse(code: Code, pointer: Pointer, params: Params): void {
    this.#problems.push(problem(code, positionOfValue(this.#yaml, pointer), params));
  }

  /** Reports an error at the key of a value. */
  refuseKey(code: Code, pointer: Pointer, params: Params): void {
    this.#problems.push(problem(code, positionOfKey(this.#yaml, pointer), params));
  }

  warn(code: Code, pointer: Pointer, params: Params): void {
    this.#problems.push(problem(code, positionOfValue(this.#yaml, pointer), params, 'warning'));
  }

  sourceOf(pointer: Pointer): Source {
    const { file, line, column } = positionOfKey(this.#yaml, pointer);
    return { layer: this.#layer, file, line, column };
  }

  /** The entries of a map, without those that the schema refuses. */
  entriesOf<S extends keyof RawMaps>(section: S): Entry<RawMaps[S]>[] {
    return this.#named(section).filter(({ pointer }) => !this.#isBroken(pointer)) as Entry<RawMaps[S]>[];
  }

  /** The items of a list, without those that the schema refuses. */
  itemsOf<S extends keyof RawLists>(section: S): { readonly pointer: Pointer; readonly raw: RawLists[S] }[] {
    const list = this.#section(section);
    if (!Array.isArray(list)) return [];
    return list
      .map((raw: RawLists[S], i) => ({ pointer: pointerTo(`/${section}`, i), raw }))
      .filter(({ pointer }) => !this.#isBroken(pointer));
  }

  /** All names that a map declares, also those of broken entries: they are not unknown. */
  namesOf(section: keyof RawMaps): readonly Entry<unknown>[] {
    return this.#named(section);
  }

  /** The ids of all rules that have one, also of broken rules. */
  ruleIds(): readonly { readonly name: string; readonly pointer: Pointer }[] {
    const rules = this.#section('rules');
    if (!Array.isArray(rules)) return [];
    return rules.flatMap((rule: { readonly id?: unknown } | null, i) =>
      typeof rule?.id === 'string' ? [{ name: rule.id, pointer: pointerTo(pointerTo('/rules', i), 'id') }] : [],
    );
  }

  #named(section: keyof RawMaps): Entry<unknown>[] {
    const map = this.#section(section);
    if (map === null || typeof map !== 'object' || Array.isArray(map)) return [];
    const entries = Object.entries(map).map(([name, raw]) => ({ name, pointer: pointerTo(`/${section}`, name), raw }));
    // An object lists names that look like numbers first; the order of a view is that of the file.
    return entries.sort((a, b) => this.#offsetOf(a.pointer) - this.#offsetOf(b.pointer));
  }

  #offsetOf(pointer: Pointer): number {
    return this.#yaml.locations.get(pointer)?.key?.[0] ?? 0;
  }

  #section(name: string): unknown {
    const whole = this.#yaml.value;
    return whole !== null && typeof whole === 'object' ? (whole as Record<string, unknown>)[name] : undefined;
  }
}
