import { closeSync, openSync, readSync } from 'node:fs';

/** Random bytes of the kernel. Loading node:crypto would take a tenth of the time in which `run` starts. */
export function randomBytes(count: number): Buffer {
  const bytes = Buffer.alloc(count);
  const fd = openSync('/dev/urandom', 'r');
  try {
    if (readSync(fd, bytes) !== count) throw new Error('/dev/urandom gives too little');
    return bytes;
  } finally {
    closeSync(fd);
  }
}
