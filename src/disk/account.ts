import { readFileSync, statSync } from 'node:fs';
import { operatingSystem } from './operating-system.ts';

/** A line of the group database. */
export interface Group {
  readonly name: string;
  readonly gid: number;
  readonly members: readonly string[];
}

/** A line of the user database. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
  readonly name: string;
  readonly home: string;
  /** Empty where none is named. */
  readonly shell: string;
}

/** The uid that this process acts as: what it makes belongs to it. */
export function ownUid(): number {
  return process.geteuid?.() ?? -1;
}

/** Where accounts are looked up; tests name their own files. */
export interface AccountSources {
  readonly passwdFile?: string;
  readonly groupFile?: string;
  /** The uid of this process: its own account is asked of the C library, which knows other directories (LDAP) too. */
  readonly ownUid?: number;
}

/** The account of a uid, or null where there is none (a container started with a bare uid). Never `$HOME`. */
export function readAccount(uid: number, sources: AccountSources = {}): Account | null {
  const { passwdFile = '/etc/passwd', ownUid: own = ownUid() } = sources;
  return (uid === own ? readOwnAccount() : null) ?? readAccounts(passwdFile).find((it) => it.uid === uid) ?? null;
}

/**
 * The group that is the account's own: named like it and with nobody else in it, as distributions make one for each user
 * and then let it write by umask 002. undefined where that cannot be shown.
 */
export function privateGidOf({ gid, name }: Account, sources: AccountSources = {}): number | undefined {
  const { passwdFile = '/etc/passwd', groupFile } = sources;
  const group = readGroups(groupFile).find((it) => it.gid === gid);
  if (group?.name !== name) return undefined;
  const members = group.members.filter((member) => member !== name);
  const sharing = readAccounts(passwdFile).filter((it) => it.gid === gid && it.name !== name);
  return members.length === 0 && sharing.length === 0 ? gid : undefined;
}

/** An account as far as it is known. */
export interface FoundAccount extends Omit<Account, 'home'> {
  /** null: not listed, and `$HOME` cannot stand in. */
  readonly home: string | null;
}

/** readAccount(); without an entry the name is the number and the home is `$HOME`, if that uid owns it. */
export function findAccount(uid: number, envHome: string | undefined, sources: AccountSources = {}): FoundAccount {
  const account = readAccount(uid, sources);
  if (account !== null) return account;
  return { uid, gid: process.getgid?.() ?? uid, name: String(uid), home: unlistedHome(uid, envHome), shell: '' };
}

function unlistedHome(uid: number, home: string | undefined): string | null {
  if (home === undefined || !home.startsWith('/')) return null;
  const stats = statSync(home, { throwIfNoEntry: false });
  return stats?.isDirectory() && stats.uid === uid ? home : null;
}

function readOwnAccount(): Account | null {
  try {
    const { uid, gid, username, homedir, shell } = operatingSystem().userInfo();
    return { uid, gid, name: username, home: homedir, shell: shell ?? '' };
  } catch {
    return null;
  }
}

function readAccounts(passwdFile: string): Account[] {
  return readTable(passwdFile)
    .filter((fields) => fields.length >= 6)
    .map(([name = '', , uid, gid, , home = '', shell = '']) => ({
      uid: Number(uid),
      gid: Number(gid),
      name,
      home,
      shell,
    }));
}

/** All lines of the group database; none where it cannot be read. */
export function readGroups(file = '/etc/group'): Group[] {
  return readTable(file)
    .filter((fields) => fields.length >= 4)
    .map(([name = '', , gid, members = '']) => ({
      name,
      gid: Number(gid),
      members: members.split(',').filter((member) => member !== ''),
    }));
}

function readTable(file: string): string[][] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => line.split(':'));
  } catch {
    return [];
  }
}
