// Roots for the author of an MCP server: asked for when they are needed, kept until they change, and enforced.
//
// INVARIANT: what is not known to be allowed is refused. An empty list, a list without a usable entry, an error, silence and
// a client without roots allow nothing, and none of them brings back what an earlier list allowed.

import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { Access } from '../core/access.ts';
import { allowedText, shownText } from '../core/allowed-text.ts';
import { RootsError } from '../core/errors.ts';
import type { RealPath } from '../core/path.ts';
import { METHOD } from '../core/protocol.ts';
import { isSpecial, resolveRoot } from '../disk/judge.ts';
import { openProven } from '../disk/open-proven.ts';
import { ROOTS_KEY, rootsAsked, withRootsAsked } from './ask-back.ts';
import { completePath } from './complete-path.ts';
import { judgeTold, NOT_PLAIN } from './judge-told.ts';
import {
  type AnyServer,
  ask,
  type ModernCall,
  modernCall,
  onNotification,
  plainServer,
  type SdkServer,
  speaksModern,
} from './sdk.ts';
import { type GuardedRoot, ownList, readToldList, type ToldList } from './told-list.ts';

const DEADLINE_MS = 5_000;
const MAX_TRIES = 3;
/** A client may tell of a change each time it is asked. */
const MAX_QUESTIONS = 10;
const NOTHING = ownList([]);

export interface RootsGuardOptions {
  /**
   * Directories of the server's own configuration. The client's roots count within them alone; where a client has no roots
   * at all, they are what may be used.
   */
  readonly directories?: readonly string[];
  /** How long the client has to list its roots. */
  readonly deadlineMs?: number;
}

export interface RootsGuardEvents {
  /** Another list was told. */
  change: [roots: readonly GuardedRoot[]];
  /** A sentence for the log of the server: what the client told and could not be used. */
  warning: [sentence: string];
}

/** As `node:fs` names them; all but `r` write. */
export type OpenFlags = keyof typeof FLAGS;

const { O_RDONLY, O_RDWR, O_WRONLY, O_APPEND, O_CREAT, O_EXCL, O_TRUNC } = constants;
const FLAGS = {
  r: O_RDONLY,
  'r+': O_RDWR,
  w: O_WRONLY | O_CREAT | O_TRUNC,
  wx: O_WRONLY | O_CREAT | O_TRUNC | O_EXCL,
  'w+': O_RDWR | O_CREAT | O_TRUNC,
  'wx+': O_RDWR | O_CREAT | O_TRUNC | O_EXCL,
  a: O_WRONLY | O_CREAT | O_APPEND,
  ax: O_WRONLY | O_CREAT | O_APPEND | O_EXCL,
  'a+': O_RDWR | O_CREAT | O_APPEND,
  'ax+': O_RDWR | O_CREAT | O_APPEND | O_EXCL,
} as const;

/** A list, and of which client: another one that is initialized has told nothing yet. */
interface Told {
  readonly client: object | undefined;
  readonly list: ToldList;
}

/** Make one for each `Server` or `McpServer` (SDK 1.x or 2.x), before it is connected. */
export class RootsGuard extends EventEmitter<RootsGuardEvents> {
  readonly #server: SdkServer;
  readonly #deadlineMs: number;
  readonly #directories: readonly RealPath[] | null;
  /** What the call that is being handled was told: the modern era knows no list beside its calls. */
  readonly #call = new AsyncLocalStorage<ToldList>();
  #told: Told | null = null;
  /** What a call of the modern era was told last, for completion, in which nobody can be asked. */
  #lastCall: ToldList = NOTHING;
  #asking: Promise<ToldList> | null = null;
  /** Counts what makes an answer that is on its way an old one. */
  #changes = 0;

  /** Throws a RootsError PATH_INVALID where one of the `directories` is not there. */
  constructor(server: AnyServer, { directories, deadlineMs = DEADLINE_MS }: RootsGuardOptions = {}) {
    super();
    this.#server = plainServer(server);
    this.#deadlineMs = deadlineMs;
    this.#directories = directories?.map(ownDirectory) ?? null;
    onNotification(this.#server, METHOD.rootsChanged, () => this.#refresh());
    const { oninitialized } = this.#server;
    this.#server.oninitialized = () => {
      oninitialized?.();
      this.#refresh();
    };
  }

  /** What may be used now. Rejects with a RootsError LIST_UNKNOWN where the client was asked and gave no list. */
  async roots(): Promise<readonly GuardedRoot[]> {
    return (await this.#list()).roots;
  }

  /**
   * The canonical form of a path (absolute, or a `file:` URI) that may be used; hand on this one, never what was asked for.
   * What does not exist yet may be named. Rejects with a RootsError PATH_OUTSIDE, PATH_READ_ONLY, PATH_INVALID or
   * LIST_UNKNOWN, whose message says what may be used: let it become the result of the tool.
   */
  async resolve(requestedPath: string, { access = 'read-only' }: { readonly access?: Access } = {}): Promise<string> {
    return judgeTold(requestedPath, access, await this.#list());
  }

  /**
   * Opens a file or directory that may be used so. On Linux no exchange of links or directories between judging and opening
   * leads outside. Rejects as resolve() does, with PATH_CHANGED, or as `node:fs` where the system refuses.
   */
  async open(requestedPath: string, flags: OpenFlags = 'r', mode?: number): Promise<FileHandle> {
    if (!Object.hasOwn(FLAGS, flags)) throw new TypeError(`There is no way "${flags}" to open a file`);
    const access = flags === 'r' ? 'read-only' : 'read-write';
    const how = { flags: FLAGS[flags], ...(mode === undefined ? {} : { mode }) };
    const list = await this.#list();
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const handle = await openProven(judgeTold(requestedPath, access, list), how);
      if (handle !== 'moved') return plainHandle(handle, requestedPath, list);
    }
    throw new RootsError('PATH_CHANGED', { path: shownText(requestedPath) });
  }

  /**
   * All values that a path which is being typed could become: roots and what lies in them, directories with a `/` at their
   * end. To a `file:` URI they are URIs.
   */
  async complete(typed: string): Promise<string[]> {
    const list = speaksModern(this.#server) ? (this.#call.getStore() ?? this.#lastCall) : await this.#list();
    return [...completePath(typed, list)];
  }

  /**
   * Wraps the handler of a tool, prompt or resource, so that the client of a call of revision 2026-07-28 is asked for its
   * roots; in a call of an older one nothing happens. The context must be the last of its arguments, as the SDK gives it.
   */
  handler<A extends readonly unknown[], R>(handle: (...args: A) => R): (...args: A) => Promise<Awaited<R>> {
    return async (...args): Promise<Awaited<R>> => {
      const call = modernCall(args.at(-1));
      if (call === null) return await handle(...args);
      const list = this.#listOf(call);
      if (list === 'ask') return rootsAsked() as Awaited<R>;
      return withRootsAsked(await this.#call.run(list, () => handle(...args)));
    };
  }

  async #list(): Promise<ToldList> {
    const ofCall = this.#call.getStore();
    if (ofCall !== undefined) return ofCall;
    if (speaksModern(this.#server))
      throw unknown('the handler of this call is not wrapped by handler() of its RootsGuard');
    const client = this.#server.getClientCapabilities();
    if (client === undefined) throw unknown('no client is initialized');
    if (client.roots === undefined) return this.#withoutRoots;
    return this.#told?.client === client ? this.#told.list : this.#ask();
  }

  get #withoutRoots(): ToldList {
    return this.#directories === null ? NOTHING : ownList(this.#directories);
  }

  /** One question for all who wait. */
  #ask(): Promise<ToldList> {
    this.#asking ??= this.#askUntilCurrent().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  /** An answer that a change has overtaken is not used, and asked for again. */
  async #askUntilCurrent(): Promise<ToldList> {
    for (let questions = 0; questions < MAX_QUESTIONS; questions++) {
      const asked = this.#changes;
      const client = this.#server.getClientCapabilities();
      const result = await this.#listRoots();
      if (asked !== this.#changes) continue;
      const list = this.#read(result);
      this.#told = { client, list };
      this.emit('change', list.roots);
      return list;
    }
    throw unknown('the client was asked again and again, and told of another list each time before it had answered');
  }

  async #listRoots(): Promise<unknown> {
    try {
      return await ask(this.#server, METHOD.listRoots, { timeout: this.#deadlineMs });
    } catch (error) {
      throw unknown(`the client was asked, and says "${shownText((error as Error).message)}"`, error);
    }
  }

  #read(result: unknown): ToldList {
    const list = readToldList(result, this.#directories, (sentence) => this.emit('warning', sentence));
    if (list === null) throw unknown('the client was asked, and its answer is no list');
    return list;
  }

  /** What holds in a call of the modern era; `ask`: the client must be asked first, also where it has answered something else. */
  #listOf({ offersRoots, answers }: ModernCall): ToldList | 'ask' {
    if (offersRoots && !Object.hasOwn(answers, ROOTS_KEY)) return 'ask';
    // Where the answer is no list, nothing of the last one holds.
    this.#lastCall = NOTHING;
    this.#lastCall = offersRoots ? this.#read(answers[ROOTS_KEY]) : this.#withoutRoots;
    return this.#lastCall;
  }

  /** The list is another one: until it is told nothing of the last one holds. */
  #refresh(): void {
    this.#changes += 1;
    this.#told = null;
    if (this.#server.getClientCapabilities()?.roots === undefined || speaksModern(this.#server)) return;
    this.#ask().catch((error: unknown) => this.emit('warning', (error as Error).message));
  }
}

function unknown(what: string, cause?: unknown): RootsError {
  return new RootsError('LIST_UNKNOWN', { what }, cause === undefined ? {} : { cause });
}

function ownDirectory(directory: string): RealPath {
  const resolved = resolveRoot(directory);
  if (resolved.ok) return resolved.path;
  const what = `${resolved.why} (it is one of the server's own directories)`;
  throw new RootsError('PATH_INVALID', { path: shownText(directory), what, allowed: allowedText([]) });
}

/** What was put there between judging and opening may be something that no server should read. */
async function plainHandle(handle: FileHandle, requestedPath: string, list: ToldList): Promise<FileHandle> {
  if (!isSpecial(await handle.stat({ bigint: true }))) return handle;
  await handle.close();
  const allowed = allowedText(list.roots);
  throw new RootsError('PATH_INVALID', { path: shownText(requestedPath), what: NOT_PLAIN, allowed });
}
