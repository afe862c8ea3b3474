// What the host is told in the server's place. One form, so that a model can read it and correct itself; nothing in it
// depends on whether a place outside exists.

import { allowedText, shownText } from '../../core/allowed-text.ts';
import { type BoundaryEntry, RPC } from '../../core/protocol.ts';
import { errorLine } from '../open-requests.ts';
import type { Objection } from './held-places.ts';

/** Go on where the value stops. */
const REASONS: Readonly<Record<Objection, string>> = {
  outside: 'lies outside of what this server may use',
  'leads-outside': 'leads outside of what this server may use, or nowhere',
  carved: 'is, or holds, what this server may not use',
  'read-only': 'may only be read, and this call may write',
  'project-file': 'may only be read: it is, or holds, the file that says what may be done there',
  silent: 'lies on a file system that does not answer',
  uncounted: 'is one of more places than are looked at for one call',
  ambiguous: 'does not name one place for all who read it',
  refused: "needs a person's consent, and a person has refused it",
  'no-agent': "needs a person's consent, and nobody can be asked now",
  'no-answer': "needs a person's consent, and nobody has given it in time",
  'too-many': "needs a person's consent, and too much is asked for already",
  'no-daemon': "needs a person's consent, and the daemon cannot ask for it",
};

/** A call that would write where it does not say. */
export const NOTHING_WRITABLE = 'nothing-writable';

export interface RefusedPath {
  readonly property: string;
  readonly value: string;
  readonly objection: Objection;
}

/** Which path, why, and what is allowed. */
export function refusalText({ property, value, objection }: RefusedPath, allowed: readonly BoundaryEntry[]): string {
  const where = property === '' ? '' : ` (in "${shownText(property)}")`;
  return `Access denied by rootsd: "${shownText(value)}"${where} ${REASONS[objection]}. ${allowedText(allowed)}`;
}

/** The same of a tool that writes without naming a place, where no place may be written. */
export function writeRefusalText(tool: string | null, allowed: readonly BoundaryEntry[]): string {
  const what = tool === null ? 'this call' : `"${shownText(tool)}"`;
  return `Access denied by rootsd: ${what} may write, and nothing may be written. ${allowedText(allowed)}`;
}

/** The line that answers a tool call as a tool that failed would. */
export function refusedCall(id: string, { text, isModern }: { text: string; isModern: boolean }): string {
  const result = { ...(isModern ? { resultType: 'complete' } : {}), content: [{ type: 'text', text }], isError: true };
  return `{"jsonrpc":"2.0","id":${id},"result":${JSON.stringify(result)}}`;
}

/** The line that answers any other request. */
export function refusedRequest(id: string, text: string): string {
  return errorLine(id, { code: RPC.invalidParams, message: text });
}

/** The line that answers what cannot be judged, and so reaches nobody. */
export function unreadableMessage(id: string, why: string): string {
  const code = id === 'null' ? RPC.parse : RPC.invalidRequest;
  return errorLine(id, { code, message: `Not passed on by rootsd: the message ${why}` });
}
