// What a peer says of itself, held against what the kernel says (docs/protocol.md).

import { serversFor } from './match-peer.ts';
import type { Claimed, Observed, Peer } from './peer.ts';
import type { Policy, ServerEntry } from './policy.ts';

/** What a peer sent in `rootsd/attach`. */
export interface PeerClaims {
  /** null: whoever `launch` fits. */
  readonly server: string | null;
  readonly host: string | null;
  readonly launch?: { readonly argv: readonly string[]; readonly cwd: string };
}

export type Identification =
  | { readonly state: 'known'; readonly peer: Peer }
  /** `launch` fits several declared servers. */
  | { readonly state: 'ambiguous'; readonly servers: readonly string[] };

/** Makes the Peer that decisions are about; asked again whenever the policy changes. */
export function identifyPeer(policy: Policy, claims: PeerClaims, observed: Observed | null): Identification {
  const launched = claims.launch !== undefined && isOurRun(observed?.argv, claims.launch.argv);
  const fitting = fittingServers(policy, claims, observed);
  if (fitting.length > 1) return { state: 'ambiguous', servers: fitting.map(({ name }) => name) };
  const claimed: Claimed = { ...claims, server: fitting[0]?.name ?? claims.server };
  return { state: 'known', peer: { observed, claimed, class: launched ? 'launched' : 'claimed' } };
}

/** Who comes in by a listener is the server of that listener, whatever it says; a nameless one is who its command fits. */
function fittingServers(
  policy: Policy,
  { server, launch }: PeerClaims,
  observed: Observed | null,
): readonly ServerEntry[] {
  const listener = observed?.listener;
  if (listener !== undefined)
    return [...policy.servers.values()].filter(({ selectors }) => selectors.socket === listener);
  return server === null && launch !== undefined ? serversFor(policy, launch.argv) : [];
}

/**
 * Is this the command line of `rootsd run … -- COMMAND ARG…`? A check of consistency, not proof: a process of the same
 * uid can give itself any command line.
 */
function isOurRun(argv: readonly string[] | undefined, launch: readonly string[]): boolean {
  if (argv === undefined) return false;
  const run = argv.indexOf('run');
  const separator = argv.indexOf('--', run);
  if (run < 1 || separator < 0 || !/(^|\/)rootsd(\.m?js)?$/.test(argv[run - 1] ?? '')) return false;
  const started = argv.slice(separator + 1);
  return started.length === launch.length && started.every((word, i) => word === launch[i]);
}
