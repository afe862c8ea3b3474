// Prompts for the endpoint; what their parts say of each other is checked here.

import type { Audience, Prompt, PromptArgument, PromptValue, ValueSource } from '../core/prompt.ts';
import { compileUser, pointedItems, warnOfNearNames } from './compile-peers.ts';
import type { LayerScope } from './layer-scope.ts';
import type { Entry, PolicySource } from './policy-source.ts';
import type { RawArgument, RawPrompt, RawValue, RawVisibility } from './raw-policy.ts';
import { clip } from './source-text.ts';
import { type Pointer, pointerTo } from './yaml-file.ts';

/** The prompts of a file, in its order. */
export function compilePrompts(source: PolicySource, scope: LayerScope): Prompt[] {
  return source.entriesOf('prompts').map((entry) => {
    new PromptCheck(source, scope, entry).run();
    return promptOf(entry);
  });
}

function promptOf({ name, raw }: Entry<RawPrompt>): Prompt {
  return {
    name,
    ...(raw.description === undefined ? {} : { description: raw.description }),
    audience: audienceOf(raw['visible-to']),
    arguments: Object.entries(raw.arguments ?? {}).map(([argument, rest]) => argumentOf(argument, rest)),
    template: raw.template,
  };
}

function argumentOf(name: string, raw: RawArgument): PromptArgument {
  const described = raw.description === undefined ? {} : { description: raw.description };
  return { name, ...described, required: raw.required ?? false, source: sourceOf(raw) };
}

function sourceOf({ values, roots, paths, within, glob, 'depends-on': dependsOn }: RawArgument): ValueSource {
  if (roots === true) return { kind: 'roots' };
  if (paths !== undefined) {
    return {
      kind: 'paths',
      what: paths,
      ...(within === undefined ? {} : { within }),
      ...(glob === undefined ? {} : { glob }),
    };
  }
  if (values === undefined) return { kind: 'free' };
  if (Array.isArray(values)) return { kind: 'values', values: values.map(promptValueOf) };
  const cases = Object.entries(values).map(([of, list]) => ({ of, values: list.map(promptValueOf) }));
  return { kind: 'cases', dependsOn: dependsOn ?? '', cases };
}

function promptValueOf(raw: RawValue): PromptValue {
  if (typeof raw === 'string') return { value: raw, audience: {} };
  return { value: raw.value, audience: audienceOf(raw['visible-to']) };
}

function audienceOf({ servers, hosts, users }: RawVisibility = {}): Audience {
  return {
    ...(servers === undefined ? {} : { servers }),
    ...(hosts === undefined ? {} : { hosts }),
    ...(users === undefined ? {} : { users: users.map((user) => compileUser(user)) }),
  };
}

class PromptCheck {
  readonly #source: PolicySource;
  readonly #scope: LayerScope;
  readonly #entry: Entry<RawPrompt>;
  readonly #arguments: ReadonlyMap<string, RawArgument>;

  constructor(source: PolicySource, scope: LayerScope, entry: Entry<RawPrompt>) {
    this.#source = source;
    this.#scope = scope;
    this.#entry = entry;
    this.#arguments = new Map(Object.entries(entry.raw.arguments ?? {}));
  }

  run(): void {
    const { pointer, raw } = this.#entry;
    this.#checkVisibility(pointer, raw['visible-to']);
    for (const [name, argument] of this.#arguments) {
      const at = pointerTo(pointerTo(pointer, 'arguments'), name);
      this.#checkKind(at, name, argument);
      this.#checkDependency(at, name, argument);
      this.#checkPaths(at, name, argument);
      this.#checkValues(at, argument);
    }
    for (const [, name = ''] of raw.template.matchAll(/\{([^{}\s]+)\}/g)) {
      if (!this.#arguments.has(name)) this.#refuse(pointerTo(pointer, 'template'), `"{${clip(name)}}" is no argument`);
    }
  }

  #refuse(pointer: Pointer, why: string): void {
    this.#source.refuse('POLICY_PROMPT', pointer, { prompt: this.#entry.name, why });
  }

  /** Values come from one place only. */
  #checkKind(at: Pointer, name: string, argument: RawArgument): void {
    const kinds = [
      argument.values === undefined ? [] : ['values'],
      argument.roots === true ? ['roots'] : [],
      argument.paths === undefined ? [] : ['paths'],
    ].flat();
    if (kinds.length > 1) this.#refuse(at, `argument "${name}" has ${kinds.join(' and ')}, must have one of them`);
  }

  #checkDependency(at: Pointer, name: string, { values, 'depends-on': other }: RawArgument): void {
    const isMap = values !== undefined && !Array.isArray(values);
    if (other === undefined) {
      if (isMap) this.#refuse(pointerTo(at, 'values'), `argument "${name}" has a map of values, needs "depends-on"`);
      return;
    }
    const dependsOn = pointerTo(at, 'depends-on');
    if (!this.#arguments.has(other)) this.#refuse(dependsOn, `"${other}" is no argument of it`);
    else if (this.#isCircular(name)) this.#refuse(dependsOn, `argument "${name}" depends on itself`);
    else if (!isMap) this.#refuse(dependsOn, `argument "${name}" needs a map of values for "depends-on"`);
    else this.#checkCases(pointerTo(at, 'values'), Object.keys(values), other);
  }

  /** The keys of the map are values of the other argument, where these are known. */
  #checkCases(at: Pointer, cases: readonly string[], other: string): void {
    const values = this.#arguments.get(other)?.values;
    if (!Array.isArray(values)) return;
    const known = new Set(values.map((value: RawValue) => (typeof value === 'string' ? value : value.value)));
    for (const one of cases) {
      if (!known.has(one)) this.#source.refuseKey('POLICY_PROMPT', pointerTo(at, one), this.#noValue(one, other));
    }
  }

  #noValue(one: string, other: string) {
    return { prompt: this.#entry.name, why: `"${clip(one)}" is no value of argument "${other}"` };
  }

  #isCircular(name: string): boolean {
    const seen = new Set<string>();
    for (let at: string | undefined = name; at !== undefined; at = this.#arguments.get(at)?.['depends-on']) {
      if (seen.has(at)) return true;
      seen.add(at);
    }
    return false;
  }

  #checkPaths(at: Pointer, name: string, { paths, within, glob }: RawArgument): void {
    if (paths === undefined) {
      const key = within === undefined ? (glob === undefined ? null : 'glob') : 'within';
      if (key !== null) this.#refuse(pointerTo(at, key), `argument "${name}" has "${key}" but no "paths"`);
      return;
    }
    if (within !== undefined && this.#arguments.get(within)?.roots !== true) {
      this.#refuse(pointerTo(at, 'within'), `"${within}" is no argument of it with "roots: true"`);
    }
  }

  #checkValues(at: Pointer, { values }: RawArgument): void {
    if (values === undefined) return;
    const pointer = pointerTo(at, 'values');
    const lists: [Pointer, readonly RawValue[]][] = Array.isArray(values)
      ? [[pointer, values]]
      : Object.entries(values).map(([key, list]) => [pointerTo(pointer, key), list]);
    for (const [listPointer, list] of lists) {
      for (const [i, value] of list.entries()) {
        if (typeof value !== 'string') this.#checkVisibility(pointerTo(listPointer, i), value['visible-to']);
      }
    }
  }

  #checkVisibility(at: Pointer, visibility: RawVisibility | undefined): void {
    const pointer = pointerTo(at, 'visible-to');
    for (const kind of ['servers', 'hosts'] as const) {
      warnOfNearNames(this.#source, this.#scope, kind, pointedItems(pointerTo(pointer, kind), visibility?.[kind]));
    }
  }
}
