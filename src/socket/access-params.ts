// What `rootsd run` asks for the calls of its host, checked.

import { type AccessRequest, type CallEnded, MAX_WANTS } from '../core/protocol.ts';
import { invalidParams, type Params } from './message.ts';
import { readPath } from './peer-params.ts';

/** The parameters of `rootsd/request`. */
export function readAccessRequest({ call, wants }: Params): AccessRequest {
  if (!Array.isArray(wants) || wants.length === 0 || wants.length > MAX_WANTS) {
    throw invalidParams(`"wants" must be a list of 1 to ${MAX_WANTS} objects with "path" and "access"`);
  }
  return { call: readCall(call), wants: wants.map(readWant) };
}

/** The parameters of `rootsd/callEnded`. */
export function readCallEnded({ call }: Params): CallEnded {
  return { call: readCall(call) };
}

function readWant(value: unknown): AccessRequest['wants'][number] {
  const { path, access } = (typeof value === 'object' && value !== null ? value : {}) as Params;
  if (access !== 'read-only' && access !== 'read-write') {
    throw invalidParams('"wants.access" must be "read-only" or "read-write"');
  }
  return { path: readPath('wants.path', path), access };
}

function readCall(call: unknown): number {
  if (typeof call === 'number' && Number.isSafeInteger(call) && call >= 0) return call;
  throw invalidParams('"call" must be a number that counts');
}
