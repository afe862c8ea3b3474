// One peer under one policy: whom each rule speaks of is asked once, however many roots are decided.

import type { Consents } from './consent.ts';
import { isOver } from './ending.ts';
import type { Evidence } from './evidence.ts';
import { counts, matchPeer, type PeerMatch } from './match-peer.ts';
import { factsOf, type Peer } from './peer.ts';
import type { Rule } from './rule.ts';

/** What else bears on a session's decisions. */
export interface Circumstances {
  /** Can something keep this session's server out of a place inside a root? Then `nested: carve` works. */
  readonly carves: boolean;
  /** What people have answered; absent: nobody was asked. */
  readonly consents?: Consents;
}

/**
 * The guard of `rootsd run` can, unless it is off. Whether a peer is a `rootsd run` is a claim that was checked for
 * consistency; one that only fulfils its entry's selectors is taken for the server behind one.
 */
export function circumstancesOf({ policy }: Evidence, peer: Peer): Circumstances {
  const entry = peer.claimed.server === null ? undefined : policy.servers.get(peer.claimed.server);
  const isBehindRun = peer.class === 'launched' || peer.fulfils?.server === true;
  return { carves: isBehindRun && entry?.guard !== 'off' };
}

export interface Standing {
  readonly evidence: Evidence;
  readonly peer: Peer;
  readonly circumstances: Circumstances;
  readonly facts: readonly string[];
  /** Does the rule hold for this peer? */
  matchOf(rule: Rule): PeerMatch;
  /** Does it count, a missing fact being what it is for the rule's effect? */
  meets(rule: Rule): boolean;
}

const ENDED: PeerMatch = { match: 'no', missing: [] };

export function standingOf(evidence: Evidence, peer: Peer, circumstances: Circumstances): Standing {
  const matches = new Map<Rule, PeerMatch>();
  const matchOf = (rule: Rule): PeerMatch => {
    const known = matches.get(rule) ?? (isOver(rule, evidence.nowMs) ? ENDED : matchPeer(rule, peer, evidence.policy));
    matches.set(rule, known);
    return known;
  };
  const meets = (rule: Rule): boolean => counts(matchOf(rule).match, rule.effect);
  return { evidence, peer, circumstances, facts: factsOf(peer), matchOf, meets };
}
