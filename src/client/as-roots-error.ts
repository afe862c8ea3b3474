import { type Code, codes, RootsError } from '../core/errors.ts';
import type { RefusedRequest } from './connection.ts';

/** The daemon's code decides what follows; its text was made where the facts were, so it stays. */
export function refused(error: RefusedRequest): RootsError {
  const code = error.code !== undefined && Object.hasOwn(codes(), error.code) ? (error.code as Code) : 'NOT_PERMITTED';
  const { hint } = error;
  const details = hint === undefined ? { cause: error } : { cause: error, hint };
  return Object.assign(new RootsError(code, {}, details), { message: error.message });
}

export function unreachable(what: string, cause?: unknown): RootsError {
  return new RootsError('DAEMON_UNREACHABLE', { what }, cause === undefined ? {} : { cause });
}
