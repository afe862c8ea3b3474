// Directories that hold what we trust later: state, sockets. Nobody else may be able to write them, nor to swap a part of
// the way to them: every directory on the way belongs to root or to us and is not writable by others (or is sticky), every
// link on the way too. The last part is never a link.

import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  type Stats,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { shellQuoted } from '../core/display.ts';
import { RootsError } from '../core/errors.ts';
import { MAX_LINKS } from '../core/path.ts';
import { componentsOf } from '../core/pattern.ts';

export interface Owner {
  readonly uid: number;
  /** The group that has nobody else in it (privateGidOf()): it may write. undefined = no group may. */
  readonly privateGid?: number | undefined;
}

const OF_YOUR_OWN = 'Choose a directory of your own, for example "~/.rootsd"';
const OPEN_DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Makes the directory where it is missing, with what is missing above it, all 0700; makes an empty one 0700 where others
 * could read it. One that is in use stays as it is: it may be a home, or `/run`, and what we put there is 0600 anyway.
 * Throws a RootsError `DIRECTORY_UNSAFE` where others could have written in it or could swap it.
 */
export function makePrivateDirectory(path: string, owner: Owner): void {
  walk(path, owner, (missing) => mkdirSync(missing, { mode: 0o700 }));
  tighten(path, owner);
}

/**
 * Checks that a directory and all on the way to it cannot be written by anybody but root and the owner.
 * Throws a RootsError `DIRECTORY_UNSAFE`, or the operating system's error (ENOENT) where it cannot be looked at.
 */
export function checkPrivateDirectory(path: string, owner: Owner): void {
  walk(path, owner, undefined);
}

function walk(path: string, owner: Owner, make: ((missing: string) => void) | undefined): void {
  const rest = componentsOf(path);
  let at = '/';
  let links = 0;
  while (rest.length > 0) {
    const name = rest.shift();
    const next = name === '..' || name === undefined ? dirname(at) : join(at, name);
    const stats = make === undefined ? lstatSync(next) : statOrMake(next, make);
    const isLast = rest.length === 0;
    checkOwner(path, next, stats, owner);
    if (stats.isSymbolicLink()) {
      links += 1;
      if (isLast || links > MAX_LINKS) throw unsafe(path, `"${next}" is a link`, 'Name the directory itself');
      const target = readlinkSync(next);
      rest.unshift(...componentsOf(target));
      if (target.startsWith('/')) at = '/';
      continue;
    }
    if (!stats.isDirectory()) throw unsafe(path, `"${next}" is not a directory`);
    checkMode(path, next, { stats, owner, isLast });
    at = next;
  }
}

function statOrMake(path: string, make: (missing: string) => void): Stats {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats !== undefined) return stats;
  try {
    make(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') throw new RootsError('DIRECTORY_UNSAFE', { path, what: `it cannot be made (${code})` });
  }
  return lstatSync(path);
}

function checkOwner(path: string, part: string, stats: Stats, owner: Owner): void {
  if (stats.uid === 0 || stats.uid === owner.uid) return;
  throw unsafe(
    path,
    `"${part}" belongs to uid ${stats.uid}, it must belong to root or to uid ${owner.uid}`,
    OF_YOUR_OWN,
  );
}

interface Part {
  readonly stats: Stats;
  readonly owner: Owner;
  readonly isLast: boolean;
}

/** A sticky directory is safe on the way: its entries (whose owner is checked next) can be moved by their owner alone. */
function checkMode(path: string, part: string, { stats, owner, isLast }: Part): void {
  if (!isLast && (stats.mode & 0o1000) !== 0) return;
  const groupIsSafe = stats.gid === owner.privateGid;
  const writable = (stats.mode & 0o002) !== 0 || ((stats.mode & 0o020) !== 0 && !groupIsSafe);
  if (!writable) return;
  throw unsafe(path, `"${part}" is writable by others`, fixFor(part, stats, owner));
}

/** What is shared on purpose (`/tmp`), or is not the owner's alone to change, must stay as it is. */
function fixFor(part: string, stats: Stats, owner: Owner): string {
  const isShared = (stats.mode & 0o1000) !== 0 || stats.uid !== owner.uid;
  return isShared ? OF_YOUR_OWN : `Run: chmod go-w ${shellQuoted(part)}`;
}

/** By descriptor, so that the directory changed is the directory that was looked at. */
function tighten(path: string, owner: Owner): void {
  const fd = openSync(path, OPEN_DIRECTORY);
  try {
    const stats = fstatSync(fd);
    if (stats.uid !== owner.uid)
      throw unsafe(path, `it belongs to uid ${stats.uid}, it must belong to uid ${owner.uid}`, OF_YOUR_OWN);
    if ((stats.mode & 0o077) !== 0 && readdirSync(path).length === 0) fchmodSync(fd, 0o700);
  } finally {
    closeSync(fd);
  }
}

function unsafe(path: string, what: string, hint?: string): RootsError {
  return new RootsError('DIRECTORY_UNSAFE', { path, what }, hint === undefined ? {} : { hint });
}
