// What peers send as parameters, checked. Each function throws a Refusal that says which member is wrong and how it must be.

import {
  type Ack,
  ATTACH_VERSION,
  type AttachParams,
  ENDPOINT_NAME,
  MAX_HOST_ROOT_BYTES,
  MAX_HOST_ROOTS,
} from '../core/protocol.ts';
import type { HostRoot } from './authority.ts';
import { invalidParams, type Params } from './message.ts';

/** Of a name that a peer claims (docs/protocol.md). */
const MAX_NAME_CHARACTERS = 200;
/** Of a command line: more than people write, and so little that to look through it holds up nobody. */
const MAX_WORDS = 4_096;
const MAX_WORDS_BYTES = 256 * 1_024;
/** limits.h */
const PATH_MAX = 4_096;
/** C0, DEL, C1; a lone surrogate is no character at all. */
const NOT_IN_NAMES = /[\p{Control}\p{Surrogate}]/u;

/** The parameters of `rootsd/attach`; unknown members are ignored. */
export function readAttachParams(params: Params): AttachParams {
  checkVersion(params.version);
  const { server, host, launch, project } = params;
  return {
    version: ATTACH_VERSION,
    server: readName('server', server),
    ...(host === undefined ? {} : { host: readName('host', host) }),
    ...(launch === undefined ? {} : { launch: readLaunch(launch) }),
    ...(project === undefined ? {} : { project: readPath('project', project) }),
  };
}

/** The parameters of `rootsd/endpoint`; unknown members are ignored. */
export function readEndpointParams(params: Params): AttachParams {
  checkVersion(params.version);
  const { server = null, host = null } = params;
  return {
    version: ATTACH_VERSION,
    server: readName('server', server) ?? ENDPOINT_NAME,
    host: readName('host', host),
  };
}

/** The parameters of `rootsd/ack`. */
export function readAck({ generation, serial }: Params): Ack {
  if (typeof generation !== 'string' || !/^[0-9a-f]{1,64}$/.test(generation)) {
    throw invalidParams('"generation" must be what "rootsd/view" said');
  }
  if (serial === undefined) return { generation };
  if (typeof serial === 'number' && Number.isSafeInteger(serial) && serial >= 1) return { generation, serial };
  throw invalidParams('"serial" must be what "rootsd/view" said, or be left out');
}

/** The roots of `rootsd/hostRoots`, as the host gave them. */
export function readHostRootsParams({ roots }: Params): readonly HostRoot[] {
  if (Array.isArray(roots) && roots.length <= MAX_HOST_ROOTS && roots.every(isHostRoot)) return roots;
  throw invalidParams(
    `"roots" must be a list of at most ${MAX_HOST_ROOTS} objects with a "uri" of at most ${MAX_HOST_ROOT_BYTES} bytes`,
  );
}

function isHostRoot(value: unknown): value is HostRoot {
  if (typeof value !== 'object' || value === null || !('uri' in value)) return false;
  return typeof value.uri === 'string' && Buffer.byteLength(value.uri) <= MAX_HOST_ROOT_BYTES;
}

function checkVersion(version: unknown): void {
  if (version === ATTACH_VERSION) return;
  throw invalidParams('unsupported "version"', { supported: [ATTACH_VERSION] });
}

function readName(key: string, value: unknown): string | null {
  if (value === null) return null;
  if (typeof value !== 'string') throw invalidParams(`"${key}" must be a name or null`);
  if (value === '' || NOT_IN_NAMES.test(value) || [...value].length > MAX_NAME_CHARACTERS) {
    const rule = `1 to ${MAX_NAME_CHARACTERS} characters, none of them a control character`;
    throw invalidParams(`"${key}" must have ${rule}`);
  }
  return value;
}

function readLaunch(value: unknown): { argv: readonly string[]; cwd: string } {
  const { argv, cwd } = typeof value === 'object' && value !== null ? (value as Params) : {};
  if (!isCommandLine(argv)) {
    const bounds = `1 to ${MAX_WORDS} strings, of at most ${MAX_WORDS_BYTES / 1_024} KiB together`;
    throw invalidParams(`"launch.argv" must be a list of ${bounds}`);
  }
  return { argv, cwd: readPath('launch.cwd', cwd) };
}

function isCommandLine(value: unknown): value is readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_WORDS || !value.every(isText)) return false;
  return value.reduce((sum, word) => sum + Buffer.byteLength(word), 0) <= MAX_WORDS_BYTES;
}

/** An absolute path. */
export function readPath(key: string, value: unknown): string {
  if (isText(value) && value.startsWith('/') && Buffer.byteLength(value) < PATH_MAX) return value;
  throw invalidParams(`"${key}" must be an absolute path of less than ${PATH_MAX} bytes`);
}

/** What can be an argument of a process or a path. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('\0');
}
