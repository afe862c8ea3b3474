import { readlinkSync } from 'node:fs';

/** Where the kernel itself says what it is, though not to the guard: it follows no such link. */
const NAMELESS = '/proc/self/cwd';

/**
 * The working directory, which a server has too that is started without one of its own: where it is now, also after it was
 * moved. One that was removed has the name with which the kernel speaks of it, in which nothing can lie; nor does
 * anything lie in one that has no name here, or a longer one than the kernel tells.
 */
export function workingDirectory(): string {
  const path = readName() ?? NAMELESS;
  return path.startsWith('/') ? path : NAMELESS;
}

function readName(): string | null {
  try {
    return readlinkSync('/proc/self/cwd');
  } catch {
    return currentName();
  }
}

/** For systems without /proc. */
function currentName(): string | null {
  try {
    return process.cwd();
  } catch {
    return null;
  }
}
