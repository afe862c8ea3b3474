// The roots that the host itself offers: they narrow what the policy allows and never widen it.

import { parseFileUri, type RealPath } from '../core/path.ts';
import { MAX_HOST_ROOT_BYTES, MAX_HOST_ROOTS } from '../core/protocol.ts';
import { resolvePath } from '../disk/resolve.ts';
import type { Reply } from './own-requests.ts';

export interface HostRootsOptions {
  /** Sends `roots/list` to the host; null: no answer in time. */
  readonly ask: () => Promise<Reply>;
  /** The host's roots are known, or are as good as not given. */
  readonly onChange: (roots: HostRootsList) => void;
  readonly warn: (sentence: string) => void;
}

export interface HostRootsList {
  /** Real places; null: no list, so nothing is narrowed. */
  readonly limits: readonly RealPath[] | null;
  /** As the host gave them, for the daemon. */
  readonly uris: readonly string[];
}

const SILENT = 'The host does not list its roots again: those that it listed before hold on';
const NO_LIST: HostRootsList = { limits: null, uris: [] };

export class HostRoots {
  readonly #options: HostRootsOptions;
  #isAsking = false;
  #mustAskAgain = false;
  /** What it listed last. */
  #list: HostRootsList = NO_LIST;

  constructor(options: HostRootsOptions) {
    this.#options = options;
  }

  /** Asks the host; while a question is open, one more follows it. */
  async refresh(): Promise<void> {
    this.#mustAskAgain = true;
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      while (this.#mustAskAgain) {
        this.#mustAskAgain = false;
        this.#take(await this.#options.ask());
      }
    } finally {
      this.#isAsking = false;
    }
  }

  /** The host has listed its roots without being asked by us: within a request of the modern era. */
  told(reply: Reply): void {
    this.#list = readHostRoots(reply, this.#options.warn);
    this.#options.onChange(this.#list);
  }

  /** Silence never widens: what was listed before holds on. */
  #take(reply: Reply): void {
    if (this.#mustAskAgain) return;
    const { warn, onChange } = this.#options;
    if (reply === null && this.#list.limits !== null) warn(SILENT);
    else this.#list = readHostRoots(reply, warn);
    onChange(this.#list);
  }
}

/** What an answer of the host means. An empty list is a list; one without a usable entry is none. */
export function readHostRoots(reply: Reply, warn: (sentence: string) => void): HostRootsList {
  const uris = listedUris(reply);
  if (uris === null) {
    warn(
      `The host offers roots, but ${reply === null ? 'does not list them' : 'lists none that can be read'}: the policy alone holds`,
    );
    return NO_LIST;
  }
  if (uris.length > MAX_HOST_ROOTS)
    warn(`The host lists ${uris.length} roots: only the first ${MAX_HOST_ROOTS} are used`);
  const used = uris.slice(0, MAX_HOST_ROOTS).filter((uri) => Buffer.byteLength(uri) <= MAX_HOST_ROOT_BYTES);
  const paths = used.map((uri) => requestedPathOf(uri, warn));
  const usable = paths.filter((path) => path !== null);
  if (uris.length > 0 && usable.length === 0) {
    warn('The host lists no root that is a usable file URI: the policy alone holds');
    return { limits: null, uris: used };
  }
  return { limits: usable.flatMap(realDirectory), uris: used };
}

/** The `uri` of each entry, an entry without one as an empty text; null: this is no list of roots. */
function listedUris(reply: Reply): readonly string[] | null {
  const result = reply?.result;
  if (typeof result !== 'object' || result === null || !('roots' in result) || !Array.isArray(result.roots))
    return null;
  return result.roots.map((root: unknown) => {
    const uri = typeof root === 'object' && root !== null && 'uri' in root ? root.uri : undefined;
    return typeof uri === 'string' ? uri : '';
  });
}

/** The path that an entry names, or null. Some hosts send bare absolute paths. */
function requestedPathOf(uri: string, warn: (sentence: string) => void): string | null {
  if (uri.startsWith('/')) {
    warn(`The host lists "${uri}" as a root, which must be a file URI: taken as a path`);
    return uri;
  }
  const parsed = parseFileUri(uri);
  if (parsed.ok) return parsed.path;
  warn(`The host lists a root that is left out: "${uri.slice(0, 200)}" ${parsed.why}`);
  return null;
}

/** What does not exist, or cannot be looked at, limits to nothing. */
function realDirectory(requestedPath: string): readonly RealPath[] {
  const resolved = resolvePath(requestedPath);
  return resolved.ok && resolved.stat !== null ? [resolved.path] : [];
}
