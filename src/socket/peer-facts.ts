// Who is at the other end, by the kernel's word. Read in the connection handler before anything else happens: later the
// process may have ended and its number may be another's. Credentials are those of the process that connected: whoever
// holds the connection now may be another (docs/threat-model.md).

import { closeSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Observed, User } from '../core/peer.ts';
import type { Native } from '../disk/native.ts';
import { readProcessStat } from '../disk/process-stat.ts';
import { descriptorOf } from './descriptor-of.ts';
import { readExe, readParent, readProcess } from './process-facts.ts';

export interface PeerFacts {
  /** undefined: not even that is known, the connection is gone. */
  readonly uid: number | undefined;
  /** What was observed at accept, looked at again now; null if that process has ended or runs another program. */
  confirm(): Observed | null;
  /** Lets go of the process. */
  close(): void;
}

export interface PeerFactsOptions {
  /** null: the kernel cannot be asked. What is known then is that the socket's mode let the peer in: it is `ownUid`. */
  readonly native: Native | null;
  readonly ownUid: number;
  readonly userOf: (uid: number) => User;
  /** The named listener it came in by. */
  readonly listener?: string | undefined;
}

/** Observes the process that connected; synchronous, to be called first thing in the connection handler. */
export function observePeer(socket: Socket, { native, ownUid, userOf, listener }: PeerFactsOptions): PeerFacts {
  const named = listener === undefined ? {} : { listener };
  if (native === null) return unchanging(ownUid, { user: userOf(ownUid), ...named });
  const fd = descriptorOf(socket);
  try {
    const { pid, uid, gid } = native.peerCredentials(fd);
    const base = { user: userOf(uid), gid, ...named };
    return pid === null ? unchanging(uid, base) : observeProcess({ native, fd, pid, uid, base });
  } catch {
    return { uid: undefined, confirm: () => null, close() {} };
  }
}

interface Connected {
  readonly native: Native;
  readonly fd: number;
  readonly pid: number;
  readonly uid: number;
  readonly base: Pick<Observed, 'user' | 'gid' | 'listener'>;
}

function observeProcess({ native, fd, pid, uid, base }: Connected): PeerFacts {
  const pidfd = openPidfd(native, fd);
  const parent = readParent(pid);
  const observed: Observed = { ...base, ...readProcess(pid), ...(parent === null ? {} : { parent }) };
  let held = pidfd;

  // With a pidfd the kernel says whether the process runs; without one, its start time tells it from a later one.
  const runs = (): boolean => {
    if (pidfd === 'gone') return false;
    if (typeof held === 'number') return native.isAlive(held);
    return observed.startTime !== undefined && readProcessStat(pid)?.startTime === observed.startTime;
  };
  const wasThere = runs();
  return {
    uid,
    // The program first: were the process asked first, it could end in between.
    confirm: () => (wasThere && readExe(pid) === observed.exe && runs() ? observed : null),
    close() {
      if (typeof held === 'number') closeSync(held);
      held = null;
    },
  };
}

function openPidfd(native: Native, fd: number): number | 'gone' | null {
  try {
    return native.peerPidfd(fd);
  } catch {
    return 'gone';
  }
}

function unchanging(uid: number, observed: Observed): PeerFacts {
  return { uid, confirm: () => observed, close() {} };
}
