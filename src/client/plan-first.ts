import { readFileSync } from 'node:fs';
import { PLAN_FIRST_SUFFIX, type PlanFirst } from '../core/plan-first.ts';

/**
 * What the daemon of this socket says of servers that wait for their plan; null: nothing. The directory of a socket that may
 * be used is writable by its owner alone.
 */
export function readPlanFirst(socket: string): PlanFirst | null {
  try {
    return JSON.parse(readFileSync(`${socket}${PLAN_FIRST_SUFFIX}`, 'utf8')) as PlanFirst;
  } catch {
    return null;
  }
}
