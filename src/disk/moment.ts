import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import type { Moment } from '../core/moment.ts';

/** Reads both clocks. */
export type ReadMoment = () => Moment;

/**
 * The clocks of this machine. Linux says which boot this is and counts suspend in its uptime. Elsewhere the uptime follows
 * the wall clock: this process stands for the boot there, and nothing that is bound to it outlives it.
 */
export function machineMoment(): ReadMoment {
  const bootId = readBootId();
  if (bootId === null) {
    const own = `process ${randomUUID()}`;
    return () => ({ wallMs: Date.now(), boot: own, bootMs: performance.now() });
  }
  return () => ({ wallMs: Date.now(), boot: bootId, bootMs: Math.round(uptime() * 1000) });
}

function readBootId(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return null;
  }
}
