// Whether a group is one user's own, as most systems make one for each user. What is decided here: the group has the
// owner's name, lists nobody else, and is nobody else's primary group, all by the local files. A group that these files do
// not know (a directory service's) counts as shared: its members cannot be listed.

import { readFile } from 'node:fs/promises';

/** Files in the form of passwd(5) and group(5). */
export interface AccountFiles {
  readonly passwd: string;
  readonly group: string;
}

export const SYSTEM_ACCOUNTS: AccountFiles = { passwd: '/etc/passwd', group: '/etc/group' };

/** Reads the account files and says of a group whether it is private to its owner. */
export async function readPrivateGroups(files: AccountFiles): Promise<(gid: number, ownerUid: number) => boolean> {
  const [users, groups] = await Promise.all([readFields(files.passwd), readFields(files.group)]);
  return (gid, ownerUid) => {
    const owner = users.find(([, , uid]) => Number(uid) === ownerUid)?.[0];
    const group = groups.find(([, , id]) => Number(id) === gid);
    if (owner === undefined || group?.[0] !== owner) return false;
    const members = (group[3] ?? '').split(',').filter((name) => name !== '' && name !== owner);
    return members.length === 0 && !users.some(([, , uid, id]) => Number(id) === gid && Number(uid) !== ownerUid);
  };
}

async function readFields(path: string): Promise<string[][]> {
  try {
    const text = await readFile(path, 'utf8');
    return text
      .split('\n')
      .filter((line) => /^[^#:]+:/.test(line))
      .map((line) => line.split(':'));
  } catch {
    // Without the file no group is known, so none is private.
    return [];
  }
}
