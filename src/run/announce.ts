// What the host says of roots is replaced by what we say: in `initialize`, and in each request of the modern era. All else
// stays, byte for byte.

import { showsForms } from './elicitation.ts';
import { applyEdits, type Edit, memberOf, objectAt, objectOf, removeMembers, setMember } from './splice.ts';

export interface Announcement {
  readonly line: Buffer;
  /** Did the host itself offer roots? */
  readonly hostHasRoots: boolean;
  /** Does it show a person forms that it is sent? */
  readonly hostShowsForms: boolean;
}

/** Rewrites an `initialize` request (valid JSON). `offer`: do we offer roots to this server? */
export function announceRoots(line: Buffer, offer: boolean): Announcement {
  const params = objectOf(line, memberOf(line, objectAt(line), 'params'));
  // Without parameters there is nothing to announce in; the server will say so.
  if (params === -1) return { line, hostHasRoots: false, hostShowsForms: false };
  const edits = offerRoots(line, params, { key: 'capabilities', roots: offer ? '{"listChanged":true}' : null });
  const holder = [line, params, 'capabilities'] as const;
  return {
    line: Buffer.concat(applyEdits(line, edits)),
    hostHasRoots: hasRoots(...holder),
    hostShowsForms: showsForms(...holder),
  };
}

/** Do the capabilities, a member of the object at `holder`, name roots? */
export function hasRoots(line: Buffer, holder: number, key: string): boolean {
  const capabilities = objectOf(line, memberOf(line, holder, key));
  return capabilities !== -1 && objectOf(line, memberOf(line, capabilities, 'roots')) !== -1;
}

/** Sets `roots` in the capabilities, a member of the object at `holder`, to a JSON text, or takes it out (null). */
export function offerRoots(
  line: Buffer,
  holder: number,
  { key, roots }: { key: string; roots: string | null },
): readonly Edit[] {
  const capabilities = objectOf(line, memberOf(line, holder, key));
  if (capabilities !== -1) {
    return roots === null
      ? removeMembers(line, capabilities, (name) => name === 'roots')
      : [setMember(line, capabilities, { key: 'roots', json: roots })];
  }
  return roots === null ? [] : [setMember(line, holder, { key, json: `{"roots":${roots}}` })];
}

/** A request or an answer under another id (a JSON text). */
export function withId(line: Buffer, id: string): readonly Uint8Array[] {
  return applyEdits(line, [setMember(line, objectAt(line), { key: 'id', json: id })]);
}
