// Who could have written a file (docs/policy.md, "Who may write a policy file"). A file that others may write is wrong, not absent.
//
// The file is opened first and everything about it is asked of what was opened. The directories on the way to it,
// those of links included, are looked at after that; at the end of that way must be the file that was opened.
// Access control lists are not looked at: where they widen a mode, the mode's group bits show it on Linux.

import { constants, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { shellQuoted } from '../core/display.ts';
import { type Code, type Params, type Problem, problem, type Severity, startOf } from '../core/errors.ts';
import { type AccountSources, privateGidOf, readAccount } from '../disk/account.ts';
import { PathWalk, type Walked, type WalkStep } from './path-walk.ts';

export interface Trust {
  /** `system`: only root may write. `user`: root and that user. */
  readonly layer: 'system' | 'user';
  readonly uid: number;
  /** Above it nobody looks when a user's file lies inside. */
  readonly home: string;
  readonly accounts?: AccountSources;
  /** How much a fault of trust counts; `error` when omitted. */
  readonly severity?: Severity;
}

export interface ReadFileResult {
  /** null where it is no regular file or cannot be read. */
  readonly bytes: Buffer | null;
  readonly problems: readonly Problem[];
}

const SHARED_WRITE = 0o022;
const STICKY = 0o1000;
const ELSEWHERE = 'Keep the file in a directory that others cannot write in';

/** Reads files of one layer: each is opened once, and each directory is judged once. */
export class TrustedReader {
  readonly #trust: Trust;
  readonly #walk = new PathWalk();
  readonly #judged = new Set<string>();

  constructor(trust: Trust) {
    this.#trust = trust;
  }

  /** What speaks against the file, which is not read. Rejects with the error of the system. */
  async judge(path: string): Promise<readonly Problem[]> {
    const handle = await openQuietly(path);
    try {
      const stats = await handle.stat();
      return stats.isFile() ? await this.#judgeFile(path, stats) : [notAFile(path, stats)];
    } finally {
      await handle.close();
    }
  }

  /** Reads at most `maxBytes`; never blocks on a pipe or a device. Rejects with the error of the system. */
  async read(path: string, maxBytes: number): Promise<ReadFileResult> {
    const handle = await openQuietly(path);
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) return { bytes: null, problems: [notAFile(path, stats)] };
      const problems = await this.#judgeFile(path, stats);
      if (stats.size > maxBytes) {
        const tooLarge = problem('FILE_TOO_LARGE', startOf(path), { size: stats.size, limit: maxBytes });
        return { bytes: null, problems: [...problems, tooLarge] };
      }
      // One byte more than allowed shows that the file has grown past the limit since.
      const buffer = Buffer.alloc(Math.min(maxBytes, stats.size) + 1);
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
      if (bytesRead !== stats.size) return { bytes: null, problems: [...problems, this.#fault('TRUST_CHANGED', path)] };
      return { bytes: buffer.subarray(0, bytesRead), problems };
    } finally {
      await handle.close();
    }
  }

  async #judgeFile(path: string, stats: Stats): Promise<Problem[]> {
    return [...this.#judgeEntry(path, stats), ...(await this.#judgeWay(path, stats))];
  }

  async #judgeWay(path: string, opened: Stats): Promise<Problem[]> {
    const walked = await this.#walk.walk(path);
    if (walked.stats.dev !== opened.dev || walked.stats.ino !== opened.ino) return [this.#fault('TRUST_CHANGED', path)];
    const isBeyond = await this.#isBeyond(walked);
    return walked.steps.flatMap((step) => (isBeyond(step.directory) ? [] : this.#judgeStep(step)));
  }

  /** Directories above the home say nothing about files inside: who owns these owns the home as well. */
  async #isBeyond(walked: Walked): Promise<(directory: string) => boolean> {
    if (this.#trust.layer === 'system') return () => false;
    const home = await this.#walk.walk(this.#trust.home).catch(() => null);
    if (home === null || !isAtOrBelow(walked.path, home.path)) return () => false;
    return (directory) => directory !== home.path && isAtOrBelow(home.path, directory);
  }

  #judgeStep({ directory, directoryStats: stats, entryStats }: WalkStep): Problem[] {
    if (this.#judged.has(directory)) return [];
    // In a sticky directory an entry can only be replaced by its owner, so it is judged anew for each entry.
    const isSafeEntry = (stats.mode & STICKY) !== 0 && this.#mayWrite(entryStats.uid);
    if ((stats.mode & STICKY) === 0) this.#judged.add(directory);
    return isSafeEntry ? this.#judgeOwner(directory, stats) : this.#judgeEntry(directory, stats);
  }

  #judgeEntry(path: string, stats: Stats): Problem[] {
    const problems = this.#judgeOwner(path, stats);
    const shared = stats.mode & SHARED_WRITE;
    // What is shared on purpose (`/tmp`) must stay so.
    const fixBy = (mode: string) => (stats.mode & STICKY ? ELSEWHERE : `Run: chmod ${mode} ${shellQuoted(path)}`);
    if ((shared & 0o002) !== 0) return [...problems, this.#fault('TRUST_OTHERS_WRITE', path, { fix: fixBy('go-w') })];
    if (shared === 0 || this.#isPrivateGroup(stats.gid, stats.uid)) return problems;
    return [...problems, this.#fault('TRUST_GROUP_WRITE', path, { gid: stats.gid, fix: fixBy('g-w') })];
  }

  #judgeOwner(path: string, { uid }: Stats): Problem[] {
    if (this.#mayWrite(uid)) return [];
    const isSystem = this.#trust.layer === 'system';
    const owners = isSystem ? 'root' : `root or uid ${this.#trust.uid}`;
    const fix = `chown ${isSystem ? 'root' : this.#trust.uid} ${shellQuoted(path)}`;
    return [this.#fault('TRUST_OWNER', path, { uid, owners, fix })];
  }

  #mayWrite(uid: number): boolean {
    return uid === 0 || (this.#trust.layer === 'user' && uid === this.#trust.uid);
  }

  /** As most systems make a group for each user and let it write by umask 002. */
  #isPrivateGroup(gid: number, ownerUid: number): boolean {
    const owner = readAccount(ownerUid, this.#trust.accounts);
    return owner !== null && privateGidOf(owner, this.#trust.accounts) === gid;
  }

  #fault(code: Code, path: string, params: Params = {}): Problem {
    return problem(code, startOf(path), { path, ...params }, this.#trust.severity);
  }
}

/** Never blocks on a pipe or a device. */
function openQuietly(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
}

function isAtOrBelow(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(outer === '/' ? '/' : `${outer}/`);
}

/** No matter of trust, however much that counts: nothing was read. */
function notAFile(path: string, stats: Stats): Problem {
  return problem('TRUST_NOT_A_FILE', startOf(path), { path, what: kindOf(stats) });
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a directory';
  if (stats.isFIFO()) return 'a pipe';
  return stats.isSocket() ? 'a socket' : 'a device';
}
