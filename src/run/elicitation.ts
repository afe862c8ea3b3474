// A question to the person at the host, and what the host makes of it (MCP, "Elicitation").

import type { HostAnswer, HostQuestion } from '../core/protocol.ts';
import { memberOf, objectOf } from './splice.ts';

export const ELICIT = 'elicitation/create';
/** What a server asks of the person at the host. */
export const ASKS_PERSON: ReadonlySet<string> = new Set([ELICIT, 'sampling/createMessage']);

/** The one field of our form, and what in it is a no; the rest are scopes of a yes. */
const FIELD = 'answer';
const DENY = 'deny';

/** Do the capabilities, a member of the object at `holder`, say that a form can be shown? One that names no mode shows forms. */
export function showsForms(line: Buffer, holder: number, key: string): boolean {
  const capabilities = objectOf(line, memberOf(line, holder, key));
  const elicitation = capabilities === -1 ? -1 : objectOf(line, memberOf(line, capabilities, 'elicitation'));
  if (elicitation === -1) return false;
  const names = (mode: string): boolean => memberOf(line, elicitation, mode) !== undefined;
  return names('form') || !names('url');
}

/** The parameters of `elicitation/create`, as a JSON text. */
export function elicitationOf({ text, scopes }: HostQuestion): string {
  const answer = {
    type: 'string',
    title: 'Answer',
    description: `"${DENY}", or how long a yes holds`,
    enum: [DENY, ...scopes],
    default: DENY,
  };
  const requestedSchema = { type: 'object', properties: { [FIELD]: answer }, required: [FIELD] };
  return JSON.stringify({ message: text, requestedSchema });
}

/** What the result of a host says, whatever that holds. What is neither yes nor no leaves the question to others. */
export function readElicited({ id, scopes }: HostQuestion, result: unknown): HostAnswer {
  const { action, content } = isObject(result) ? result : {};
  if (action === 'decline') return { id, says: 'no' };
  const scope = action === 'accept' && isObject(content) ? content[FIELD] : undefined;
  if (scope === DENY) return { id, says: 'no' };
  return typeof scope === 'string' && scopes.includes(scope) ? { id, says: 'yes', scope } : { id, says: 'pass' };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
