// The roots that the host itself offers: they narrow what the policy allows and never widen it.

import type { Timer } from '../client/timer.ts';
import { parseFileUri, type RealPath } from '../core/path.ts';
import { MAX_HOST_ROOT_BYTES, MAX_HOST_ROOTS } from '../core/protocol.ts';
import type { Found, Places } from './guard/places.ts';
import type { Reply } from './own-requests.ts';

export interface HostRootsOptions {
  /** Sends `roots/list` to the host; null: no answer in time. */
  readonly ask: () => Promise<Reply>;
  /** The host's roots are known, or are as good as not given. */
  readonly onChange: (roots: HostRootsList) => void;
  readonly warn: (sentence: string) => void;
  readonly timer: Timer;
  /** Finds out where paths lead, and calls back where that took a moment. */
  readonly openPlaces: (onAnswer: () => void) => Pick<Places, 'find' | 'forgetAnswers' | 'close'>;
}

export interface HostRootsList {
  /** Real places; null: no list, so nothing is narrowed. */
  readonly limits: readonly RealPath[] | null;
  /** As the host gave them, for the daemon. */
  readonly uris: readonly string[];
}

/** A list as the host gave it: the paths that its usable entries name. */
export interface GivenRoots {
  /** null: this is no list. */
  readonly paths: readonly string[] | null;
  readonly uris: readonly string[];
}

const SILENT = 'The host does not list its roots again: those that it listed before hold on';
const NO_LIST: GivenRoots = { paths: null, uris: [] };
/** When what did not answer is looked at again; twice as long after each time. */
const FIRST_PAUSE_MS = 6_000;
const LONGEST_PAUSE_MS = 60_000;

export class HostRoots {
  readonly #options: HostRootsOptions;
  #isAsking = false;
  #mustAskAgain = false;
  /** What it listed last, looked at. */
  #list: HostRootsList = { limits: null, uris: [] };
  /** What it listed last. */
  #given = NO_LIST;
  /** Has nobody heard yet of what it listed last? */
  #isLooking = false;
  #places: ReturnType<HostRootsOptions['openPlaces']> | null = null;
  #pauseMs = FIRST_PAUSE_MS;
  #cancelPause: () => void = () => undefined;

  constructor(options: HostRootsOptions) {
    this.#options = options;
  }

  /** Does it take a moment to find out where the host's roots lie? What it listed before holds until then. */
  get isLooking(): boolean {
    return this.#isLooking;
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
    this.#given = readHostRoots(reply, this.#options.warn);
    this.#isLooking = true;
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#look();
  }

  close(): void {
    this.#cancelPause();
    this.#places?.close();
  }

  /** Silence never widens: what was listed before holds on. */
  #take(reply: Reply): void {
    if (this.#mustAskAgain) return;
    if (reply !== null || this.#list.limits === null) {
      this.told(reply);
      return;
    }
    this.#options.warn(SILENT);
    this.#options.onChange(this.#list);
  }

  /** Finds out where the roots lie, as far as that can be known without waiting: the rest comes back here. */
  #look(): void {
    const { onChange } = this.#options;
    const { paths, uris } = this.#given;
    this.#cancelPause();
    const found = paths?.map((path) => this.#find(path)) ?? null;
    if (found?.includes('wait')) return;
    this.#places?.forgetAnswers();
    if (found?.some(isSilent)) this.#lookLater();
    const list = { limits: found?.flatMap(limitOf) ?? null, uris };
    const isNew = this.#isLooking || JSON.stringify(list) !== JSON.stringify(this.#list);
    this.#isLooking = false;
    this.#list = list;
    if (isNew) onChange(list);
  }

  #find(path: string): Found | 'wait' {
    this.#places ??= this.#options.openPlaces(() => this.#look());
    return this.#places.find(path);
  }

  /** A file system that is away at the start of a session is often back in a minute; a host does not list its roots again. */
  #lookLater(): void {
    const { warn, timer } = this.#options;
    warn('A root that the host lists lies on a file system that does not answer: left out for as long');
    this.#cancelPause = timer(this.#pauseMs, () => this.#look());
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * this.#pauseMs);
  }
}

/** What an answer of the host means. An empty list is a list; one without a usable entry is none. */
export function readHostRoots(reply: Reply, warn: (sentence: string) => void): GivenRoots {
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
    return { paths: null, uris: used };
  }
  return { paths: usable, uris: used };
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
function limitOf(found: Found | 'wait'): readonly RealPath[] {
  return found !== 'wait' && found.ok && found.isThere ? [found.path] : [];
}

function isSilent(found: Found | 'wait'): boolean {
  return found !== 'wait' && !found.ok && found.isSilent;
}
