import type { User } from '../core/peer.ts';
import { type Account, type AccountSources, ownUid, readAccount, readGroups } from './account.ts';

export interface UserSources extends AccountSources {
  /** The groups of this process, for its own uid. */
  readonly ownGids?: readonly number[];
}

/**
 * Name and groups of a uid. A group list is given only where it is complete: a rule `%group` that denies must not miss
 * because a directory service was not asked.
 */
export function readUser(uid: number, sources: UserSources = {}): User {
  const account = readAccount(uid, sources);
  const groups = uid === (sources.ownUid ?? ownUid()) ? ownGroups(sources) : groupsOf(account, sources);
  return {
    uid,
    ...(account === null ? {} : { name: account.name }),
    ...(groups === undefined ? {} : { groups }),
  };
}

/** By our own credentials, which the kernel had from whichever directory knows the user. */
function ownGroups({ ownGids = processGids(), groupFile }: UserSources): readonly string[] | undefined {
  const names = new Map(readGroups(groupFile).map(({ gid, name }) => [gid, name]));
  const groups = [...new Set(ownGids)].map((gid) => names.get(gid));
  return groups.every((name) => name !== undefined) ? groups : undefined;
}

function processGids(): readonly number[] {
  return [process.getegid?.() ?? -1, ...(process.getgroups?.() ?? [])];
}

/** By the files, for a user who is in them. */
function groupsOf(account: Account | null, { groupFile }: UserSources): readonly string[] | undefined {
  if (account === null) return undefined;
  const groups = readGroups(groupFile).filter(
    ({ gid, members }) => gid === account.gid || members.includes(account.name),
  );
  return groups.some(({ gid }) => gid === account.gid) ? groups.map(({ name }) => name) : undefined;
}
