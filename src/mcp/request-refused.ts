import { RPC } from '../core/protocol.ts';

/** A request that gets an error: the message, code and data are what the client is told. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused';
  readonly code: number;
  readonly data: Readonly<Record<string, unknown>> | undefined;

  constructor(code: number, message: string, data?: Readonly<Record<string, unknown>>) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export function invalidParams(what: string, data?: Readonly<Record<string, unknown>>): RequestRefused {
  return new RequestRefused(RPC.invalidParams, `Invalid params: ${what}`, data);
}
