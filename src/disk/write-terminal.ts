// Writing to the terminal at which somebody sits. What is shown there only they can read: a process that shares the terminal
// can write to it, and read what is typed, but not what stands on it.

import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';
import { readProcessStat } from './process-stat.ts';

/** Never our own controlling terminal, and nothing that waits for somebody who has stopped it. */
const FLAGS = constants.O_WRONLY | constants.O_NOCTTY | constants.O_NONBLOCK;
/** Major numbers of devices: Documentation/admin-guide/devices.txt of the kernel. */
const CONSOLES = 4;
const MAX_CONSOLE = 63;
const PSEUDO = { first: 136, last: 143 };

/** Writes to the controlling terminal of the leader of a session; false: it has none, or that cannot be written. */
export function writeToTerminalOf(leader: number, text: string): boolean {
  const stat = readProcessStat(leader);
  const name = stat === null ? null : terminalName(stat.terminal);
  if (stat === null || name === null) return false;
  let descriptor: number | undefined;
  try {
    // As the leader has it mounted: a terminal of a container is another one than ours of that name.
    descriptor = openSync(`/proc/${leader}/root/dev/${name}`, FLAGS);
    const { rdev } = fstatSync(descriptor);
    if (rdev !== stat.terminal) return false;
    const bytes = Buffer.from(text.replaceAll('\n', '\r\n'));
    return writeSync(descriptor, bytes) === bytes.length;
  } catch {
    return false;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Below /dev; null: no terminal, or a kind that nobody sits at. */
export function terminalName(device: number): string | null {
  const major = (device >> 8) & 0xfff;
  const minor = (device & 0xff) | ((device >> 12) & 0xfff00);
  if (major === CONSOLES && minor > 0 && minor <= MAX_CONSOLE) return `tty${minor}`;
  if (major < PSEUDO.first || major > PSEUDO.last) return null;
  return `pts/${(major - PSEUDO.first) * 256 + minor}`;
}
