// `notifications/cancelled`, of either side. Lines are valid JSON.

import { applyEdits, memberOf, objectAt, objectOf, setMember } from './splice.ts';

export const CANCELLED = 'notifications/cancelled';

/** The id (a JSON text) that it names. */
export function cancelledId(line: Buffer): string {
  const { params } = JSON.parse(line.toString('utf8')) as { readonly params?: { readonly requestId?: unknown } };
  return JSON.stringify(params?.requestId) ?? '';
}

/** The same for another id. */
export function withCancelledId(line: Buffer, id: string): readonly Uint8Array[] {
  const params = objectOf(line, memberOf(line, objectAt(line), 'params'));
  return applyEdits(line, [setMember(line, params, { key: 'requestId', json: id })]);
}
