import { RootsError } from '../core/errors.ts';
import type { Fault, JsonLinesOptions } from './json-lines.ts';
import { type Message, Refusal } from './message.ts';
import { MAX_NESTING } from './nesting.ts';

const MALFORMED = {
  'not-utf8': 'it is not UTF-8',
  'not-json': 'it is not JSON in one line',
  'too-deep': `it is nested deeper than ${MAX_NESTING} levels`,
  'cut-off': 'it ends without a line break',
} as const;

/** What a peer is told, and the log, when nothing more can be read from it. */
export function faultError(fault: Fault, { limits, held }: JsonLinesOptions): RootsError {
  switch (fault) {
    case 'too-large':
      return new RootsError('PEER_MESSAGE_TOO_LARGE', { limit: limits.message });
    case 'holds-most':
      return new RootsError('PEER_HOLDS_MOST', { limit: held.limit });
    case 'stalled':
      return new RootsError('PEER_STALLED');
    default:
      return new RootsError('PEER_MALFORMED', { what: MALFORMED[fault] });
  }
}

/** Why a first message opens no session. */
export function firstMessageError(message: Message): RootsError | Refusal {
  if (message.kind === 'invalid') return new Refusal(message.error);
  const what = message.kind === 'request' ? `"${message.method.slice(0, 100)}"` : `a ${message.kind}`;
  return new RootsError('PEER_FIRST_MESSAGE', { what });
}
