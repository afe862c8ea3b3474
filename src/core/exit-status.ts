// What a process says of itself by its exit status: of every command, and of `rootsd run` where it has no server to speak for.

import { type Code, codes } from './errors.ts';

/** sysexits(3), as far as we use them. */
export const EXIT = {
  yes: 0,
  no: 1,
  undecided: 2,
  usage: 64,
  unreachable: 69,
  bug: 70,
  tryAgain: 75,
  notPermitted: 77,
  configuration: 78,
} as const;

/** The exit status of an error: who has to act. */
export function exitStatusOf(code: Code): number {
  return BY_CODE[code] ?? BY_KIND[codes()[code].kind];
}

const BY_KIND = {
  usage: EXIT.usage,
  file: EXIT.configuration,
  place: EXIT.configuration,
  peer: EXIT.notPermitted,
  temporary: EXIT.tryAgain,
  bug: EXIT.bug,
} as const;

const BY_CODE: Readonly<Partial<Record<Code, number>>> = {
  DAEMON_UNREACHABLE: EXIT.unreachable,
  POLICY_BROKEN: EXIT.no,
  // Nothing is wrong with the command line: somebody else was quicker, or nobody asks any more.
  CONSENT_UNKNOWN: EXIT.no,
  // Whoever started it must say a name: the command line is wrong, not the peer.
  PEER_AMBIGUOUS: EXIT.usage,
};
