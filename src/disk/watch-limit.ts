import { readFileSync } from 'node:fs';
import { RootsError } from '../core/errors.ts';

interface WatchLimit {
  /** A name for sysctl. */
  readonly limit: string;
  /** What it is now; `unknown` where the kernel does not say. */
  readonly value: string;
}

/** Tells once that watches have run out, with the limit to raise; nothing else a watch can say needs anyone to act. */
export function warnOnceOfLimit(onWarning: (warning: RootsError) => void): (path: string, error: Error) => void {
  let warned = false;
  return (path, error) => {
    const limit = readWatchLimit(error);
    if (warned || limit === null) return;
    warned = true;
    onWarning(new RootsError('WATCH_LIMIT', { path, ...limit }, { cause: error }));
  };
}

/**
 * The kernel's limit that an error of a watch is about, or null if it is about none. The error itself reads like a full
 * disk (ENOSPC) or like too many open files (EMFILE).
 */
function readWatchLimit(error: Error): WatchLimit | null {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall !== 'watch') return null;
  if (code === 'ENOSPC') return readLimit('max_user_watches');
  return code === 'EMFILE' ? readLimit('max_user_instances') : null;
}

function readLimit(name: string): WatchLimit {
  const limit = `fs.inotify.${name}`;
  try {
    return { limit, value: readFileSync(`/proc/sys/fs/inotify/${name}`, 'utf8').trim() };
  } catch {
    return { limit, value: 'unknown' };
  }
}
