// A request of the modern era (revision 2026-07-28). There is no handshake: each request says in `_meta` which revision it
// speaks and what the client can do, and one connection may carry requests of both eras.

import { MODERN_META } from '../core/protocol.ts';
import { hasRoots, offerRoots } from './announce.ts';
import { showsForms } from './elicitation.ts';
import {
  applyEdits,
  type Edit,
  isOneObject,
  memberOf,
  objectAt,
  objectOf,
  removeMembers,
  setMember,
} from './splice.ts';

/** Part of both keys. No encoder writes a letter as an escape, so a line without it is no modern request. */
const NEEDLE = 'io.modelcontextprotocol';

export interface ModernRequest {
  readonly line: Buffer;
  /** Where the parameters start. */
  readonly params: number;
  readonly meta: number;
  /** Does the host itself offer roots? */
  readonly hostHasRoots: boolean;
}

/** The request in a line, or null where it is of the legacy era, or no JSON to its end. */
export function readModernRequest(line: Buffer): ModernRequest | null {
  if (!line.includes(NEEDLE) || !isOneObject(line)) return null;
  const params = objectOf(line, memberOf(line, objectAt(line), 'params'));
  const meta = params === -1 ? -1 : objectOf(line, memberOf(line, params, '_meta'));
  if (meta === -1 || memberOf(line, meta, MODERN_META.version) === undefined) return null;
  return { line, params, meta, hostHasRoots: hasRoots(line, meta, MODERN_META.capabilities) };
}

/** The request as it can be kept: without its line end, and of bytes that nobody else has. */
export function keepRequest(request: ModernRequest, isOurs: boolean): ModernRequest {
  const bare = request.line.subarray(0, request.line.lastIndexOf('}') + 1);
  return { ...request, line: isOurs ? bare : Buffer.from(bare) };
}

/** Sets what the capabilities say of roots. */
export function offerInRequest({ line, meta }: ModernRequest, offers: boolean): readonly Edit[] {
  return offerRoots(line, meta, { key: MODERN_META.capabilities, roots: offers ? '{}' : null });
}

export interface Retry {
  /** A new id, as a JSON text. */
  readonly id: string;
  readonly offers: boolean;
  /** JSON texts; null: the server gave no state. */
  readonly responses: string;
  readonly state: Uint8Array | null;
}

/** The request once more, with answers to what the server asked: those of this round only, and the state only if it gave one. */
export function retryRequest(request: ModernRequest, { id, offers, responses, state }: Retry): readonly Uint8Array[] {
  const { line, params } = request;
  const stateEdits =
    state === null
      ? removeMembers(line, params, (key) => key === 'requestState')
      : [setMember(line, params, { key: 'requestState', json: state })];
  return applyEdits(line, [
    setMember(line, objectAt(line), { key: 'id', json: id }),
    ...offerInRequest(request, offers),
    setMember(line, params, { key: 'inputResponses', json: responses }),
    ...stateEdits,
  ]);
}

/** What in the parameters belongs to one round. */
const OF_ROUND = ['inputResponses', 'requestState'] as const;

/** The request with what belongs to a round as another one has it, byte for byte; null: with nothing of that. */
export function asInRoundOf({ line, params }: ModernRequest, other: ModernRequest | null): Buffer {
  const kept = OF_ROUND.flatMap((key) => {
    const member = other === null ? undefined : memberOf(other.line, other.params, key);
    return member === undefined ? [] : [{ key, json: other?.line.subarray(member.start, member.end) ?? '' }];
  });
  const isOut = (key: string): boolean => OF_ROUND.some((one) => one === key) && !kept.some((one) => one.key === key);
  const edits = [...removeMembers(line, params, isOut), ...kept.map((one) => setMember(line, params, one))];
  return Buffer.concat(applyEdits(line, edits));
}

/** Does the host show a person forms that come within the result of this request? */
export function showsFormsInside({ line, meta }: ModernRequest): boolean {
  return showsForms(line, meta, MODERN_META.capabilities);
}

/** A member of the parameters as JSON.parse() has it; undefined where there is none. */
export function paramOf({ line, params }: ModernRequest, key: string): unknown {
  const member = memberOf(line, params, key);
  if (member === undefined) return undefined;
  try {
    return JSON.parse(line.toString('utf8', member.start, member.end));
  } catch {
    return undefined;
  }
}

/** The keys of the host's answers that list roots. */
export function rootsResponses(request: ModernRequest): readonly string[] {
  const responses = paramOf(request, 'inputResponses');
  if (typeof responses !== 'object' || responses === null) return [];
  return Object.entries(responses).flatMap(([key, answer]: [string, unknown]) =>
    typeof answer === 'object' && answer !== null && 'roots' in answer && Array.isArray(answer.roots) ? [key] : [],
  );
}

/** Puts answers of ours (JSON texts by key) beside those of the host, over any of the same key. */
export function addResponses({ line, params }: ModernRequest, responses: ReadonlyMap<string, string>): readonly Edit[] {
  const given = objectOf(line, memberOf(line, params, 'inputResponses'));
  if (given === -1) return [];
  return [...responses].map(([key, json]) => setMember(line, given, { key, json }));
}
