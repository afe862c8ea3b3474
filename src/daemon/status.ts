// How the daemon is, for `rootsd status`.

import { type Problem, startOf } from '../core/errors.ts';
import type { ConsentStore } from '../state/consents.ts';
import { VERSION } from '../version.ts';
import type { StatusReply } from './control.ts';
import type { KnownServers } from './known-servers.ts';
import { filesOf, type LayerStatus, type Layers } from './layers.ts';

/** What can be wrong, and with whom that is known. */
export interface StatusFacts {
  readonly layers: Pick<Layers, 'generation' | 'state' | 'problems' | 'statuses'>;
  readonly knownServers: Pick<KnownServers, 'problems'>;
  /** What is wrong with rootsd.yaml while an older reading of it is in force. */
  readonly configProblems: () => readonly Problem[];
  /** What of the last good states is not kept: that says nothing of what is in force. */
  readonly keepingProblems: () => readonly Problem[];
  readonly consent: { readonly store: Pick<ConsentStore, 'refusal' | 'path'> };
}

export interface StatusCounts {
  readonly sessions: number;
  readonly roots: number;
  /** When the daemon began, ms since the epoch. */
  readonly sinceMs: number;
}

/** What `status` answers. Something wrong beside the layers degrades what would be well. */
export function statusOf(facts: StatusFacts, { sessions, roots, sinceMs }: StatusCounts): StatusReply {
  const { layers, knownServers } = facts;
  const wrong = [...facts.configProblems(), ...knownServers.problems, ...consentProblems(facts)];
  return {
    version: VERSION,
    generation: layers.generation,
    state: layers.state === 'ok' && wrong.length > 0 ? 'degraded' : layers.state,
    problems: [...wrong, ...layers.problems, ...facts.keepingProblems()],
    sessions,
    roots,
    since: new Date(sinceMs).toISOString(),
    layers: layers.statuses.map(layerReply),
  };
}

/** What people have answered cannot be used: nothing of it holds. */
function consentProblems({ consent: { store } }: StatusFacts): readonly Problem[] {
  if (store.refusal === null) return [];
  const { code, message } = store.refusal;
  return [{ ...startOf(store.path), code, message, severity: 'error' }];
}

function layerReply(status: LayerStatus): StatusReply['layers'][number] {
  const { layer, condition, directory, since } = status;
  return { layer, state: condition, directory, files: filesOf(status), since: new Date(since).toISOString() };
}
