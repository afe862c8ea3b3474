import { closeSync, openSync, readFileSync } from 'node:fs';

/** How many descriptors this process may have open. Infinity where the system does not say. */
export function descriptorLimit(limitsFile = '/proc/self/limits'): number {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync(limitsFile, 'latin1')) ?? [];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** The number that the next descriptor gets: all lower ones are taken. Infinity where there is none left. */
export function nextDescriptor(): number {
  try {
    const fd = openSync('/dev/null', 'r');
    closeSync(fd);
    return fd;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
