import type { ConsentKey } from '../core/consent.ts';
import { patternPath } from '../core/pattern.ts';
import type { Peer } from '../core/peer.ts';
import type { Policy } from '../core/policy.ts';
import { byLength } from '../core/question.ts';
import { refOf } from '../core/rule-order.ts';
import type { View } from '../core/view.ts';
import type { Grants } from './grants.ts';
import { type Wanted, wantedOf } from './questions.ts';

export interface Asking {
  readonly peer: Peer;
  readonly policy: Policy;
  readonly keyOf: Grants['keyOf'];
}

/** What a person could give to a session that has this view: of roots that are there. */
export function wantedIn(view: View, asking: Asking): readonly Wanted[] {
  return view.entries.flatMap(({ root, available, decision, facts }) => {
    const { offer } = decision;
    if (offer === undefined || !available || facts.place === null) return [];
    const key = asking.keyOf({ peer: asking.peer, place: facts.place, rule: offer.rule, policy: asking.policy });
    if (key === null) return [];
    return [wanted(key, asking.peer, { root, written: patternPath(facts.written), offer })];
  });
}

function wanted(
  key: ConsentKey,
  { claimed, observed, class: peerClass }: Peer,
  {
    root,
    written,
    offer,
  }: Pick<Wanted['asks'], 'root' | 'written'> & {
    readonly offer: NonNullable<View['entries'][number]['decision']['offer']>;
  },
): Wanted {
  const { rule, access, scopes } = offer;
  const user = observed?.user.name ?? `uid:${key.uid}`;
  const asker = { server: claimed.server, class: peerClass, host: claimed.host, user };
  const { reason = null, approver } = rule;
  const rest = { rule: refOf(rule), reason, scopes: byLength(scopes), approver };
  return wantedOf({ key, asker, root, written, access, ...rest });
}
