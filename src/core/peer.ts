import type { UserSelector } from './rule.ts';

/** How it is known who a peer is, the weakest first. */
export type PeerClass = 'claimed' | 'launched' | 'attested';

/** What the kernel says of a process. Fields that could not be read are absent: missing facts. */
export interface ObservedProcess {
  /** Absent: without the native layer, or of a process that our pid namespace does not show. */
  readonly pid?: number;
  readonly exe?: string;
  readonly argv?: readonly string[];
  /** Clock ticks after boot, /proc/PID/stat field 22; with the pid it names a process for good. */
  readonly startTime?: string;
}

export interface User {
  readonly uid?: number;
  readonly name?: string;
  /** Names of all groups; absent = not known. */
  readonly groups?: readonly string[];
}

/** A user of whom only this is known. */
export function userOf(selector: UserSelector): User {
  switch (selector.kind) {
    case 'name':
      return { name: selector.name };
    case 'uid':
      return { uid: selector.uid };
    case 'group':
      return { groups: [selector.group] };
  }
}

export interface Observed extends ObservedProcess {
  readonly user: User;
  readonly gid?: number;
  /** Of `rootsd run`: the host that started it. */
  readonly parent?: ObservedProcess;
  /** The named listener it came in by. */
  readonly listener?: string;
}

/** What the peer says of itself. */
export interface Claimed {
  /** null: nameless; every `servers:` is a missing fact. */
  readonly server: string | null;
  readonly host: string | null;
  /** What `rootsd run` is about to start. */
  readonly launch?: { readonly argv: readonly string[]; readonly cwd: string };
}

/** The process at the other end. */
export interface Peer {
  /** null: its facts could not be established (decision kind `unattested`). */
  readonly observed: Observed | null;
  readonly claimed: Claimed;
  readonly class: PeerClass;
  /** Set by tests and `explain --server`: a peer that fulfils the selectors of what it claims, whatever they are. */
  readonly fulfils?: { readonly server?: boolean; readonly host?: boolean };
}

/** What is known of a peer, for a person who reads a decision. */
export function factsOf(peer: Peer): string[] {
  const { server, host } = peer.claimed;
  const user = peer.observed?.user;
  const facts = [
    server === null ? null : `server=${server} (${peer.fulfils?.server ? 'fulfils its selectors' : peer.class})`,
    host === null ? null : `host=${host} (${peer.fulfils?.host ? 'fulfils its selectors' : 'claimed'})`,
    user?.name === undefined ? null : `user=${user.name}`,
    user?.uid === undefined ? null : `uid=${user.uid}`,
  ];
  return facts.filter((fact) => fact !== null);
}
