// The layers of policy files and what of them is in force (docs/policy.md, "What becomes active, and when").
//
// Each layer activates as a whole and on its own: read, schema, trust, compile, tests, swap. A failure keeps that
// layer's last good state under the new upper layers. What is broken never widens: a layer that cannot be read and has
// no last good state locks everything down, for its denies are unknown.

import { createHash } from 'node:crypto';
import { type Problem, problem, type RootsError, startOf } from '../core/errors.ts';
import { composePolicy, type LayerPolicy, type Policy } from '../core/policy.ts';
import type { PolicyState } from '../core/protocol.ts';
import type { Layer } from '../core/rule.ts';
import type { TestResult } from '../core/run-tests.ts';
import type { LayerFile } from '../policy/compile-layer.ts';

/** Layers that are read from directories, upper ones first. */
export type FileLayer = Extract<Layer, 'system' | 'user'>;

/** What reading a layer's directory gave. `problems` of a good one are warnings. */
export type LayerReading =
  | {
      readonly state: 'good';
      readonly policy: LayerPolicy;
      readonly texts: readonly LayerFile[];
      readonly problems: readonly Problem[];
      readonly results: readonly TestResult[];
    }
  | { readonly state: 'absent' }
  | { readonly state: 'broken'; readonly problems: readonly Problem[] };

/** `refused`: there is one, and it cannot be used. What it would have denied is not known. */
export type Restored =
  | { readonly state: 'good'; readonly policy: LayerPolicy }
  | { readonly state: 'absent' }
  | { readonly state: 'refused'; readonly error: RootsError };

export type LayerCondition = 'empty' | 'active' | 'degraded' | 'lockdown';

export interface LayerStatus {
  readonly layer: FileLayer;
  readonly directory: string;
  readonly condition: LayerCondition;
  readonly inForce: LayerPolicy | null;
  readonly problems: readonly Problem[];
  /** When what is in force was activated, ms since the epoch. */
  readonly since: number;
}

/** How layers are read and remembered; the daemon wires it to the disk, `check` and `explain` without memory. */
export interface LayerSource {
  readonly layer: FileLayer;
  readonly directory: string;
  read(upper: readonly LayerPolicy[]): Promise<LayerReading>;
  /** The persisted last good state, compiled under `upper`. */
  restore(upper: readonly LayerPolicy[]): Promise<Restored>;
  /** Never rejects: what cannot be written is for the store to say. */
  remember(texts: readonly LayerFile[]): Promise<void>;
  forget(): Promise<void>;
}

export interface ReloadOptions {
  /** A layer that disappeared is meant to be gone. */
  readonly acceptEmpty?: boolean;
  /** Called when one more layer is as it is to be: what is in force may have changed. */
  readonly onLayer?: () => void;
  /** Is given the tests of each layer that could be read, as they came out. */
  readonly onTests?: (results: readonly TestResult[]) => void;
}

export interface ReloadOutcome {
  readonly generation: string;
  readonly problems: readonly Problem[];
  /** Layers whose condition or content is not what it was. */
  readonly moved: readonly LayerStatus[];
}

interface Composed {
  /** What it was put together from. */
  readonly states: readonly LayerStatus[];
  readonly policy: Policy;
  readonly generation: string;
}

export class Layers {
  readonly #builtIn: LayerPolicy;
  readonly #sources: readonly LayerSource[];
  readonly #now: () => number;
  #states: readonly LayerStatus[];
  #composed: Composed | null = null;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(builtIn: LayerPolicy, sources: readonly LayerSource[], now: () => number) {
    this.#builtIn = builtIn;
    this.#sources = sources;
    this.#now = now;
    this.#states = sources.map(({ layer, directory }) => ({
      layer,
      directory,
      condition: 'empty',
      inForce: null,
      problems: [],
      since: now(),
    }));
  }

  get statuses(): readonly LayerStatus[] {
    return this.#states;
  }

  get state(): PolicyState {
    if (this.#states.some(({ condition }) => condition === 'lockdown')) return 'lockdown';
    return this.#states.some(({ condition }) => condition === 'degraded') ? 'degraded' : 'ok';
  }

  get problems(): readonly Problem[] {
    return this.#states.flatMap(({ problems }) => problems);
  }

  /** What is in force. In lockdown the built-in layer alone: no root, so every view is empty. */
  get policy(): Policy {
    return this.#compose().policy;
  }

  /** The first 16 hex digits of a SHA-256 over what is in force. */
  get generation(): string {
    return this.#compose().generation;
  }

  /** Reads all layers again; calls wait for each other. */
  reload(options: ReloadOptions = {}): Promise<ReloadOutcome> {
    const next = this.#queue.then(() => this.#reload(options));
    this.#queue = next.catch(() => undefined);
    return next;
  }

  async #reload(options: ReloadOptions): Promise<ReloadOutcome> {
    const before = this.#states;
    const states: LayerStatus[] = [];
    const remembered: Promise<void>[] = [];
    for (const [i, source] of this.#sources.entries()) {
      const upper = [this.#builtIn, ...states.flatMap(({ inForce }) => (inForce === null ? [] : [inForce]))];
      const previous = before[i];
      if (previous === undefined) throw new Error('INVARIANT: one state for each source');
      // Under a layer of which nothing is known a lower one cannot be judged: its names may be declared there.
      const isUpperKnown = states.every(({ condition }) => condition !== 'lockdown');
      states.push(isUpperKnown ? await this.#activate(source, previous, upper, { ...options, remembered }) : previous);
      // At once, whatever the layers below look like and however long they take to be read.
      this.#states = [...states, ...before.slice(i + 1)];
      options.onLayer?.();
    }
    await Promise.all(remembered);
    const moved = states.filter((state, i) => differs(state, before[i]));
    const { generation, problems } = this;
    return { generation, problems, moved };
  }

  async #activate(
    source: LayerSource,
    previous: LayerStatus,
    upper: readonly LayerPolicy[],
    { acceptEmpty = false, onTests, remembered }: ReloadOptions & { readonly remembered: Promise<void>[] },
  ): Promise<LayerStatus> {
    const reading = await source.read(upper);
    if (reading.state === 'absent') return this.#absent(source, previous, upper, acceptEmpty);
    if (reading.state === 'broken') return this.#broken(source, previous, upper, reading.problems);
    onTests?.(reading.results);
    const failures = failedTests(reading.results);
    if (failures.length > 0) return this.#broken(source, previous, upper, [...reading.problems, ...failures]);
    const same = previous.condition === 'active' && sameFiles(previous.inForce, reading.policy);
    // A deny acts now, however slow the disk is. Whoever kills us before it is written loses nothing where the files are as
    // they are now: a start reads them first. Only if they are broken by then, what was in force before them is again.
    if (!same) remembered.push(source.remember(reading.texts));
    const since = sameFiles(previous.inForce, reading.policy) ? previous.since : this.#now();
    return { ...previous, condition: 'active', inForce: reading.policy, problems: reading.problems, since };
  }

  /** A layer that was in force and disappears counts as unreadable; one that never was is empty. */
  async #absent(
    source: LayerSource,
    previous: LayerStatus,
    upper: readonly LayerPolicy[],
    acceptEmpty: boolean,
  ): Promise<LayerStatus> {
    if (acceptEmpty) {
      await source.forget();
      return { ...previous, condition: 'empty', inForce: null, problems: [], since: this.#now() };
    }
    const lastGood = await lastGoodOf(source, previous, upper);
    if (lastGood.state === 'absent') return { ...previous, condition: 'empty', inForce: null, problems: [] };
    const gone = problem('POLICY_LAYER_GONE', startOf(source.directory), { directory: source.directory });
    return this.#keep(previous, lastGood, [gone]);
  }

  async #broken(
    source: LayerSource,
    previous: LayerStatus,
    upper: readonly LayerPolicy[],
    problems: readonly Problem[],
  ): Promise<LayerStatus> {
    return this.#keep(previous, await lastGoodOf(source, previous, upper), problems);
  }

  #keep(previous: LayerStatus, lastGood: Restored, problems: readonly Problem[]): LayerStatus {
    if (lastGood.state !== 'good') return { ...previous, condition: 'lockdown', inForce: null, problems };
    const inForce = lastGood.policy;
    const since = previous.inForce === null ? this.#now() : previous.since;
    return { ...previous, condition: 'degraded', inForce, problems, since };
  }

  /** Asked for at every turn, put together once. */
  #compose(): Composed {
    if (this.#composed?.states === this.#states) return this.#composed;
    const layers = this.#inForce();
    const files = layers.map(({ layer, files }) => [layer, files.map(({ path, sha256 }) => [path, sha256])]);
    const generation = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 16);
    this.#composed = { states: this.#states, policy: composePolicy(layers), generation };
    return this.#composed;
  }

  #inForce(): readonly LayerPolicy[] {
    if (this.state === 'lockdown') return [this.#builtIn];
    return [this.#builtIn, ...this.#states.flatMap(({ inForce }) => (inForce === null ? [] : [inForce]))];
  }
}

/** What is in force, else what was kept. */
async function lastGoodOf(
  source: LayerSource,
  { inForce }: LayerStatus,
  upper: readonly LayerPolicy[],
): Promise<Restored> {
  return inForce === null ? source.restore(upper) : { state: 'good', policy: inForce };
}

/** The files of a layer that are in force. */
export function filesOf({ inForce }: LayerStatus): readonly string[] {
  return inForce?.files.map(({ path }) => path) ?? [];
}

/** The tests that fail, as problems at their places. */
export function failedTests(results: readonly TestResult[]): readonly Problem[] {
  return results.filter(({ ok }) => !ok).map(testProblem);
}

function testProblem({ test, expectedText, actualText, actual }: TestResult): Problem {
  const { file, line, column } = test.source;
  const at = { file, line, column, endLine: line, endColumn: column + 1 };
  return problem('POLICY_TEST_FAILED', at, { expected: expectedText, actual: actualText, why: actual.why });
}

function sameFiles(a: LayerPolicy | null, b: LayerPolicy): boolean {
  return a !== null && JSON.stringify(a.files) === JSON.stringify(b.files);
}

function differs(now: LayerStatus, before: LayerStatus | undefined): boolean {
  return (
    before === undefined ||
    now.condition !== before.condition ||
    JSON.stringify(now.inForce?.files) !== JSON.stringify(before.inForce?.files) ||
    JSON.stringify(now.problems) !== JSON.stringify(before.problems)
  );
}
