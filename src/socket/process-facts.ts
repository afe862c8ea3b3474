// What /proc says of a process. Every field can be missing: another uid's program cannot be read, a process can end
// between two reads, and macOS has no /proc. What is missing is a missing fact, never a guess.

import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, readlinkSync, readSync } from 'node:fs';
import type { ObservedProcess } from '../core/peer.ts';
import { readProcessStat } from '../disk/process-stat.ts';

/** Longer command lines are a missing fact: a process chooses its own, up to megabytes. */
const MAX_ARGV_BYTES = 128 * 1024;

/** The program a process runs, canonical; undefined where it is not ours to know, has been deleted, or is not UTF-8. */
export function readExe(pid: number): string | undefined {
  const link = attempt(() => readlinkSync(`/proc/${pid}/exe`, { encoding: 'buffer' }));
  const exe = link === undefined || !isUtf8(link) ? undefined : link.toString();
  // The kernel marks a deleted program so; that file is no longer what the name says.
  return exe?.endsWith(' (deleted)') ? undefined : exe;
}

/** Program, command line and start time of a process. */
export function readProcess(pid: number): ObservedProcess {
  const [exe, argv, startTime] = [readExe(pid), readArgv(pid), readProcessStat(pid)?.startTime];
  return {
    pid,
    ...(exe === undefined ? {} : { exe }),
    ...(argv === undefined ? {} : { argv }),
    ...(startTime === undefined ? {} : { startTime }),
  };
}

/** The process that started this one, or null where it has ended: its number may be another's by now. */
export function readParent(pid: number): ObservedProcess | null {
  const before = readProcessStat(pid);
  if (before === null || before.parentPid === 0) return null;
  const parent = readProcess(before.parentPid);
  return readProcessStat(pid)?.parentPid === before.parentPid && parent.startTime !== undefined ? parent : null;
}

function readArgv(pid: number): readonly string[] | undefined {
  const bytes = attempt(() => readStart(`/proc/${pid}/cmdline`, MAX_ARGV_BYTES + 1));
  if (bytes === undefined || bytes.length === 0 || bytes.length > MAX_ARGV_BYTES || !isUtf8(bytes)) return undefined;
  return bytes.toString().replace(/\0$/, '').split('\0');
}

/** A few bytes more than `limit` at most. A file of /proc says no size, most command lines fit the first read. */
function readStart(file: string, limit: number): Buffer {
  const fd = openSync(file, 'r');
  try {
    const chunks: Buffer[] = [];
    for (let length = 0; length < limit; ) {
      const chunk = Buffer.allocUnsafe(4096);
      const read = readSync(fd, chunk, 0, chunk.length, null);
      if (read === 0) break;
      chunks.push(chunk.subarray(0, read));
      length += read;
    }
    return Buffer.concat(chunks);
  } finally {
    closeSync(fd);
  }
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
