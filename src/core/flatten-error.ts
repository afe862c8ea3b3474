import { type Position, RootsError } from './errors.ts';

/** What of an error goes into a log line; winston itself would print an Error in a field as `{}`. */
export interface FlatError {
  readonly name?: string;
  readonly code?: string;
  readonly message: string;
  readonly hint?: string;
  readonly at?: Position;
  readonly stack?: string;
  readonly cause?: FlatError;
}

export interface FlattenOptions {
  /** Give the stack of a bug: a thrown thing that is neither ours nor the operating system's. */
  readonly withStack: boolean;
}

/** A chain that goes on longer (or in a circle) is cut. */
const MAX_CAUSES = 8;

/** Flattens what was thrown, with its chain of causes. */
export function flattenError(thrown: unknown, options: FlattenOptions, depth = 0): FlatError {
  if (!(thrown instanceof Error)) return { message: textOf(thrown) };
  const flat = thrown instanceof RootsError ? flattenOurs(thrown) : flattenForeign(thrown, options);
  if (thrown.cause === undefined || depth >= MAX_CAUSES) return flat;
  return { ...flat, cause: flattenError(thrown.cause, options, depth + 1) };
}

function flattenOurs(error: RootsError): FlatError {
  return {
    code: error.code,
    message: error.message,
    ...(error.hint !== undefined && { hint: error.hint }),
    ...(error.at !== undefined && { at: error.at }),
  };
}

function flattenForeign(error: Error, { withStack }: FlattenOptions): FlatError {
  const { code } = error as { code?: unknown };
  if (typeof code === 'string') return { name: error.name, code, message: error.message };
  const flat = { name: error.name, message: error.message };
  return withStack && error.stack !== undefined ? { ...flat, stack: error.stack } : flat;
}

function textOf(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return 'something that has no text was thrown';
  }
}
