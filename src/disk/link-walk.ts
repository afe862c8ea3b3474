// Our own walk along the links of a path. It decides nothing about where a path leads (the kernel does): it tells which
// links the way goes through, whether one of them is magic, and where the way ends when the rest does not exist.

import { isUtf8 } from 'node:buffer';
import { lstatSync, readlinkSync, statfsSync } from 'node:fs';
import { childOf, MAX_LINKS, parentOf } from '../core/path.ts';
import { componentsOf } from '../core/pattern.ts';
import { errnoFailure, type Failure, failure, failureOf } from './failure.ts';

export interface LinkOnTheWay {
  /** Free of links itself. */
  readonly directory: string;
  readonly name: string;
}

export interface LinkWalk {
  readonly ok: true;
  readonly links: readonly LinkOnTheWay[];
  /** The deepest place on the way that exists, free of links. */
  readonly reached: string;
  /** What the path names below it; empty where all of it exists. May hold `..`. */
  readonly missing: readonly string[];
  /** The way goes on where it may not be touched: nothing is known of the rest. */
  readonly isCut?: true;
}

const PROC_SUPER_MAGIC = 0x9fa0;

/**
 * Walks an absolute path, not atomically: what it says may be over a moment later. `mayTouch` is asked before an entry of
 * a directory is looked at.
 */
export function walkLinks(path: string, mayTouch: (entry: string) => boolean = () => true): LinkWalk | Failure {
  try {
    return walk(componentsOf(path).reverse(), mayTouch);
  } catch (error) {
    return failureOf(error);
  }
}

/** `ahead` is a stack: the next component is its last. */
function walk(ahead: string[], mayTouch: (entry: string) => boolean): LinkWalk | Failure {
  const links: LinkOnTheWay[] = [];
  let at = '/';
  for (let name = ahead.pop(); name !== undefined; name = ahead.pop()) {
    // `at` has no links left in it, so its parent by text is its parent on the disk.
    if (name === '..') {
      at = parentOf(at);
      continue;
    }
    const entry = childOf(at, name);
    if (!mayTouch(entry)) return { ok: true, links, reached: at, missing: [], isCut: true };
    const stat = lstatSync(entry, { throwIfNoEntry: false });
    if (stat === undefined) return { ok: true, links, reached: at, missing: [name, ...ahead.reverse()] };
    if (!stat.isSymbolicLink()) {
      at = entry;
      continue;
    }
    if (links.length === MAX_LINKS) return errnoFailure('ELOOP');
    links.push({ directory: at, name });
    const target = readLink(at, name);
    if (typeof target !== 'string') return target;
    ahead.push(...componentsOf(target).reverse());
    if (target.startsWith('/')) at = '/';
  }
  return { ok: true, links, reached: at, missing: [] };
}

function readLink(directory: string, name: string): string | Failure {
  const bytes = readlinkSync(childOf(directory, name), 'buffer');
  if (!isUtf8(bytes)) return failure('goes through a link to a name that is not valid UTF-8');
  const target = bytes.toString('utf8');
  return isMagic(directory, target) ? failure('goes through a magic link of /proc', 'ELOOP') : target;
}

/**
 * Magic links live on procfs alone and jump to an object, whatever their text says; that text is an absolute path or
 * `pipe:[1]`. The ordinary links there (`self`, `mounts`, `net`) are relative.
 */
function isMagic(directory: string, target: string): boolean {
  if (process.platform !== 'linux' || statfsSync(directory).type !== PROC_SUPER_MAGIC) return false;
  return target.startsWith('/') || target.includes(':');
}
