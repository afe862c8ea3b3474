// `initialize`: what the host says of roots is replaced by what we say. All else stays, byte for byte.

import { memberOf, objectAt, removeMember, setMember } from './splice.ts';

const ROOTS = '{"listChanged":true}';

export interface Announcement {
  readonly line: Buffer;
  /** Did the host itself offer roots? */
  readonly hostHasRoots: boolean;
}

/** Rewrites an `initialize` request (valid JSON). `offer`: do we offer roots to this server? */
export function announceRoots(line: Buffer, offer: boolean): Announcement {
  const text = line.toString('latin1');
  const params = valueObject(text, objectAt(text), 'params');
  // Without parameters there is nothing to announce in; the server will say so.
  if (params === -1) return { line, hostHasRoots: false };
  const capabilities = valueObject(text, params, 'capabilities');
  const hostHasRoots = capabilities !== -1 && valueObject(text, capabilities, 'roots') !== -1;
  return { line: Buffer.from(rewrite(text, { params, capabilities, offer }), 'latin1'), hostHasRoots };
}

function rewrite(text: string, at: { params: number; capabilities: number; offer: boolean }): string {
  const { params, capabilities, offer } = at;
  if (capabilities === -1) {
    return offer ? setMember(text, params, { key: 'capabilities', json: `{"roots":${ROOTS}}` }) : text;
  }
  return offer
    ? setMember(text, capabilities, { key: 'roots', json: ROOTS })
    : removeMember(text, capabilities, 'roots');
}

/** Where the object starts that is the value of a member, or -1. */
function valueObject(text: string, open: number, key: string): number {
  const member = open === -1 ? undefined : memberOf(text, open, key);
  return member === undefined ? -1 : objectAt(text, member.start);
}

/** A request under another id (a JSON text). */
export function withId(line: Buffer, id: string): Buffer {
  const text = line.toString('latin1');
  return Buffer.from(setMember(text, objectAt(text), { key: 'id', json: id }), 'latin1');
}
