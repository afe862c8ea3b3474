import { RefusedRequest } from '../client/connection.ts';
import { type Code, codes, RootsError } from '../core/errors.ts';
import { EXIT, exitStatusOf } from '../core/exit-status.ts';
import { RPC, type RpcError } from '../core/protocol.ts';
import { CommandFailure } from './child.ts';

/** Why there will be no session: for the host, for standard error, and as exit status. */
export interface Refusal {
  readonly error: RpcError;
  readonly sentences: readonly string[];
  /** null: that of the server. */
  readonly status: number | null;
}

/** What host or server wrote cannot be passed on any further. */
export class StreamFault extends Error {
  override readonly name = 'StreamFault';
  readonly status: number | null;

  /** Of what the server wrote its own status tells. */
  constructor(message: string, from: 'host' | 'server') {
    super(message);
    this.status = from === 'host' ? EXIT.no : null;
  }
}

/** Fails closed: what is no failure that we know is a bug, and refuses too. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof StreamFault) return refusal(error.message, { status: error.status });
  if (error instanceof CommandFailure) return refusal(error.message, { status: error.status });
  if (error instanceof RootsError) {
    const { code, message, hint } = error;
    return refusal(message, { status: exitStatusOf(code), code, ...(hint === undefined ? {} : { hint }) });
  }
  if (error instanceof RefusedRequest) {
    const code =
      error.code !== undefined && Object.hasOwn(codes(), error.code) ? (error.code as Code) : 'NOT_PERMITTED';
    const { hint, message } = error;
    return refusal(`The daemon refuses: ${message}`, {
      status: exitStatusOf(code),
      code,
      ...(hint === undefined ? {} : { hint }),
    });
  }
  return refusalOfBug(error);
}

/** What was thrown where nothing must be. */
export function refusalOfBug(error: unknown): Refusal {
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return {
    ...refusal('Internal error', { status: EXIT.bug, code: 'BUG' }),
    sentences: ['This is a bug in rootsd', detail],
  };
}

interface Details {
  readonly status: number | null;
  readonly code?: Code;
  readonly hint?: string;
}

function refusal(message: string, { status, code, hint }: Details): Refusal {
  const data = { ...(code === undefined ? {} : { code }), ...(hint === undefined ? {} : { hint }) };
  const text = hint === undefined ? message : `${message}. ${hint}`;
  return { error: { code: RPC.internal, message: text, data }, sentences: [text], status };
}
