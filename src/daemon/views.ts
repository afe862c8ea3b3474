// What is decided for peers under what is in force: whom each is taken for, its view, its plan, and how that is told.

import { knownServerFor, traitsOf } from '../core/catalogue.ts';
import { RootsError } from '../core/errors.ts';
import type { Evidence } from '../core/evidence.ts';
import { type Identification, identifyPeer, type PeerClaims } from '../core/identify.ts';
import type { Observed, Peer } from '../core/peer.ts';
import { type LaunchPlan, launchPlan } from '../core/protocol.ts';
import { type Circumstances, circumstancesOf } from '../core/standing.ts';
import { type ToldView, tellInSteps } from '../core/told-view.ts';
import { narrowInSteps, type View, viewInSteps } from '../core/view.ts';
import type { InForce } from './activation.ts';
import { type Alike, keyOf, type Live } from './alike.ts';
import type { Grants } from './grants.ts';
import type { Wanted } from './questions.ts';
import { wantedIn } from './wanted.ts';

export interface ViewsOptions {
  readonly version: string;
  readonly policyDirectories: readonly string[];
  readonly grants: Pick<Grants, 'consentsOf' | 'keyOf'>;
}

/** What is decided for those that are alike. */
export type Decided = Pick<Alike, 'peer' | 'plan' | 'view'>;

/** Decides under what is in force at one time. Changes nothing. */
export class Views {
  readonly inForce: InForce;
  readonly #options: ViewsOptions;

  constructor(inForce: InForce, options: ViewsOptions) {
    this.inForce = inForce;
    this.#options = options;
  }

  /** For a peer that no session is alike. Throws RootsError PEER_AMBIGUOUS where its command fits several servers. */
  *decideFirst(claims: PeerClaims, observed: Observed | null): Generator<void, Alike> {
    const identified = identifyPeer(this.inForce.evidence.policy, claims, observed);
    if (identified.state === 'ambiguous') {
      throw new RootsError('PEER_AMBIGUOUS', { servers: identified.servers.map((name) => `"${name}"`).join(' and ') });
    }
    const { peer } = identified;
    const plan = this.#planOf(peer);
    const view = yield* this.#viewOf({ claims, observed, peer, owner: null });
    const own = { told: null, recorded: null, wanted: null, owner: null, lives: new Set<Live>() };
    return { key: keyOf(claims, observed), claims, observed, peer, plan, view, ...own };
  }

  *decideAgain({ claims, observed, owner, peer: before }: Alike): Generator<void, Decided> {
    const peer = peerOf(identifyPeer(this.inForce.evidence.policy, claims, observed), before);
    const view = yield* this.#viewOf({ claims, observed, peer, owner });
    return { peer, plan: this.#planOf(peer), view };
  }

  /** What they are told; `isWatched`: also as somebody is told it who watches. */
  *tell(
    { view, plan }: Pick<Decided, 'view' | 'plan'>,
    { isWatched }: { readonly isWatched: boolean },
  ): Generator<void, ToldView> {
    const told = yield* tellInSteps(view, { generation: this.inForce.generation, plan });
    yield* told.makeInSteps({ isWatched });
    return told;
  }

  circumstancesOf({ peer, owner }: Pick<Alike, 'peer' | 'owner'>): Circumstances {
    return this.#circumstancesIn(this.inForce.evidence, peer, owner);
  }

  /** What a person could give them. */
  wantedBy({ view, peer }: Pick<Alike, 'view' | 'peer'>): readonly Wanted[] {
    const { grants } = this.#options;
    return wantedIn(view, { peer, policy: this.inForce.evidence.policy, keyOf: grants.keyOf.bind(grants) });
  }

  #circumstancesIn(evidence: Evidence, peer: Peer, owner: string | null): Circumstances {
    return { ...circumstancesOf(evidence, peer), consents: this.#options.grants.consentsOf(owner) };
  }

  *#viewOf({
    claims,
    observed,
    peer,
    owner,
  }: Pick<Alike, 'claims' | 'observed' | 'peer' | 'owner'>): Generator<void, View> {
    const { evidence, limit } = this.inForce;
    const view = yield* viewInSteps(evidence, peer, this.#circumstancesIn(evidence, peer, owner));
    if (limit === undefined) return view;
    // Whom that policy takes the peer for; where its command fits several servers there, for none.
    const limited = peerOf(identifyPeer(limit.policy, claims, observed), peer);
    return yield* narrowInSteps(view, yield* viewInSteps(limit, limited, this.#circumstancesIn(limit, limited, owner)));
  }

  #planOf({ claimed }: Peer): LaunchPlan {
    const { evidence, policyState, catalogue } = this.inForce;
    const { version, policyDirectories } = this.#options;
    const { policy } = evidence;
    const entry = claimed.server === null ? undefined : policy.servers.get(claimed.server);
    const policyFiles = policy.layers.flatMap(({ files }) => files.map(({ path }) => path));
    const known = knownServerFor(catalogue, claimed.launch?.argv ?? entry?.selectors.command ?? []);
    const argv = claimed.launch?.argv;
    return launchPlan(entry, traitsOf(known, entry), { policyFiles, policyDirectories, policyState, version, argv });
  }
}

/** A peer whose command now fits several servers is nameless from then on: that only narrows. */
function peerOf(identified: Identification, before: Peer): Peer {
  if (identified.state === 'known') return identified.peer;
  return { ...before, claimed: { ...before.claimed, server: null } };
}
