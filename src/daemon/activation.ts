// What is in force, and what is to be. A policy counts once the places that it names have been looked at; what it denies acts
// before that, where the looks take long. A change of the policy or of the disk ends in refresh(): build the new whole, swap
// one reference, tell the sessions whose view changed. That is done in slices, for a policy can name thousands of places:
// peers are answered in between, from what is in force then.

import type { Catalogue } from '../core/catalogue.ts';
import { type Evidence, gatherEvidence, gatherInSteps } from '../core/evidence.ts';
import type { Places, RootFacts } from '../core/place.ts';
import { type Policy, pathsOf } from '../core/policy.ts';
import type { PolicyState } from '../core/protocol.ts';
import { nextTurn, runInSlices } from '../disk/slices.ts';
import type { RootWatcher } from '../disk/watch-roots.ts';
import type { Layers } from './layers.ts';

/** What is in force now, for new sessions and when something has changed. */
export interface InForce {
  readonly evidence: Evidence;
  readonly generation: string;
  readonly policyState: PolicyState;
  /** What is known of servers. */
  readonly catalogue: Catalogue;
  /** Of a policy that is about to be in force: nothing is told that it does not tell, as far as its places are known. */
  readonly limit?: Evidence;
}

export interface ActivationOptions {
  /** What has been read. */
  readonly layers: Pick<Layers, 'policy' | 'generation' | 'state'>;
  readonly knownServers: { readonly servers: Catalogue };
  /** By which time rules have ended or not, ms since 1970. */
  readonly nowMs: () => number;
  /** Tells everybody what is in force from now on; `before`: what the roots were. */
  readonly tell: (inForce: InForce, before: readonly RootFacts[]) => Generator<void>;
}

const NO_PLACES: Places = { roots: [], resolved: new Map() };
/** Local disks are looked at in less: whoever is told a list need not be told two. */
const NARROW_MS = 100;

/** Makes the policy that was read the one that is in force. */
export class Activation {
  readonly #options: ActivationOptions;
  #policy: Policy;
  /** Of the policy. */
  #generation = '';
  /** What is to be in force once its places are looked at, and when it is. */
  #next = { generation: '', done: Promise.resolve() };
  #evidence: Evidence;
  /** What is to be in force, while that is looked at for long: what it denies acts already. */
  #limiting: Policy | null = null;
  /** Under way; null: nothing has changed since the last one. */
  #refreshing: Promise<void> | null = null;
  /** Something has changed since the one under way has begun. */
  #isStale = false;
  #isClosed = false;
  #roots: RootWatcher | undefined;

  constructor(options: ActivationOptions) {
    this.#options = options;
    this.#policy = options.layers.policy;
    this.#evidence = gatherEvidence(this.#policy, NO_PLACES);
  }

  get inForce(): InForce {
    const { layers, knownServers } = this.#options;
    const [evidence, generation, policyState] = [this.#evidence, this.#generation, layers.state];
    return { evidence, generation, policyState, catalogue: knownServers.servers };
  }

  get policy(): Policy {
    return this.#policy;
  }

  /** The first policy has been read, and its places are being looked at: refresh() when they have been. */
  begin(roots: RootWatcher): void {
    const { policy, generation } = this.#options.layers;
    this.#policy = policy;
    this.#generation = generation;
    this.#next = { generation, done: Promise.resolve() };
    this.#roots = roots;
  }

  /**
   * Where the policy set has changed: look where its places are, then decide anew. Until all are looked at, half of what
   * the new policy denies is unknown: what was in force stays, and if that takes long, only what the new one tells too.
   */
  activate(): void {
    const { policy, generation } = this.#options.layers;
    if (generation !== this.#next.generation) this.#next = { generation, done: this.#takeUp(policy, generation) };
  }

  /** Resolves when what was activated last is in force. */
  activated(): Promise<void> {
    return this.#next.done;
  }

  /**
   * Decides anew for every session; resolves when all have been told. What changes while it is under way does not begin it
   * anew, or changes without end would keep it from its end: it is done once more.
   */
  refresh(): Promise<void> {
    this.#isStale = true;
    this.#refreshing ??= this.#refreshUntilFresh().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  /** Resolves when nothing is left to decide anew. */
  refreshed(): Promise<void> {
    return this.#refreshing ?? Promise.resolve();
  }

  close(): void {
    this.#isClosed = true;
  }

  async #takeUp(policy: Policy, generation: string): Promise<void> {
    const looked = this.#roots?.update(policy.roots, pathsOf(policy));
    const narrowing = setTimeout(() => this.#narrow(policy, generation), NARROW_MS);
    await looked;
    clearTimeout(narrowing);
    await nextTurn();
    // A later one has waited for the same looks.
    if (generation !== this.#next.generation) return;
    this.#generation = generation;
    this.#policy = policy;
    this.#limiting = null;
    await this.refresh();
  }

  /** What the new policy denies acts now, as far as it is known where that is; what it grants waits. */
  #narrow(policy: Policy, generation: string): void {
    if (generation !== this.#next.generation) return;
    this.#limiting = policy;
    void this.refresh();
  }

  async #refreshUntilFresh(): Promise<void> {
    const isClosed = () => this.#isClosed;
    while (this.#isStale && !isClosed()) {
      this.#isStale = false;
      await runInSlices(this.#refreshInSteps(), isClosed);
    }
  }

  *#refreshInSteps(): Generator<void> {
    const places = this.#roots?.places() ?? NO_PLACES;
    const { roots: before } = this.#evidence;
    // As they are now: what is to be in force while this goes on has a turn of its own.
    const [policy, generation, limiting] = [this.#policy, this.#generation, this.#limiting];
    const nowMs = this.#options.nowMs();
    const evidence = yield* gatherInSteps(policy, places, nowMs);
    const limit = limiting === null ? {} : { limit: yield* gatherInSteps(limiting, places, nowMs) };
    this.#evidence = evidence;
    yield* this.#options.tell({ ...this.inForce, generation, ...limit }, before);
  }
}
