// The roots of one server as a host has them: what the daemon says now, told to the host's MCP client of that server.
//
// INVARIANT: what is told never exceeds the daemon's last word. While the daemon is away that word holds for 30 s and is not
// added to; then nothing is allowed. Nor is anything after close().

import { EventEmitter } from 'node:events';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { refused, unreachable } from '../client/as-roots-error.ts';
import { type Attachment, attach } from '../client/attach.ts';
import { LostConnection, RefusedRequest } from '../client/connection.ts';
import { describeSearch, findSockets, usableSockets } from '../client/find-socket.ts';
import type { Timer } from '../client/timer.ts';
import { ACCESS_META, type Access } from '../core/access.ts';
import { ATTACH_VERSION, METHOD, type ViewMessage, type WireRoot } from '../core/protocol.ts';
import { ownUid } from '../disk/account.ts';
import { Tombstone } from '../disk/tombstone.ts';
import { Completer, type CompleterOptions } from './completer.ts';
import { daemonSearch } from './find-daemon.ts';
import { onRequest, type SdkClient, speaksModern } from './sdk.ts';
import { WeakList } from './weak-list.ts';

export interface ConnectOptions {
  /** The server that the roots are for, by its name in the policy. */
  readonly server: string;
  /** What the host calls itself. */
  readonly host?: string;
  /** The daemon's socket for peers; by default it is found as by `rootsd` itself, `$ROOTSD_SOCKET` first. */
  readonly socket?: string;
  /** How long the daemon has for each answer. */
  readonly deadlineMs?: number;
}

/** A directory that the server may be told of. */
export interface LiveRoot {
  readonly uri: string;
  readonly name: string;
  readonly path: string;
  readonly access: Access;
}

export interface LiveRootsEvents {
  /** Other roots than before: of the policy, the disk or a consent, or since the daemon has been away for 30 s. */
  change: [roots: readonly LiveRoot[]];
  /** A sentence for the host's log: a client that could not be told. */
  warning: [sentence: string];
}

/** What tests choose. */
export interface Clockwork {
  readonly timer?: Timer;
}

/** Open with connectRoots(). */
export class LiveRoots extends EventEmitter<LiveRootsEvents> {
  readonly #attachment: Attachment;
  readonly #clockwork: Clockwork;
  readonly #tombstone: Tombstone;
  /** Those of a host that starts servers again and again go with it. */
  readonly #clients = new WeakList<SdkClient>();
  readonly #completers = new WeakList<Completer>();
  #view: ViewMessage;
  /** Has a server asked for its list? */
  #hasAsked = false;

  /** See connectRoots(). */
  static async open(options: ConnectOptions, clockwork: Clockwork = {}): Promise<LiveRoots> {
    const { server, host, socket, deadlineMs } = options;
    const search = daemonSearch(socket);
    const opened: { roots?: LiveRoots } = {};
    try {
      const attachment = await attach({
        sockets: () => usableSockets(search),
        params: { version: ATTACH_VERSION, server, ...(host === undefined ? {} : { host }) },
        onView: (view) => {
          const { roots } = opened;
          if (roots !== undefined) void roots.#take(view);
        },
        ...(deadlineMs === undefined ? {} : { deadlineMs }),
        ...clockwork,
      });
      opened.roots = new LiveRoots(attachment, clockwork);
      return opened.roots;
    } catch (error) {
      if (error instanceof RefusedRequest) throw refused(error);
      if (!(error instanceof LostConnection)) throw error;
      throw unreachable(describeSearch(findSockets(search)) || error.message, error);
    }
  }

  private constructor(attachment: Attachment, clockwork: Clockwork) {
    super();
    this.#attachment = attachment;
    this.#clockwork = clockwork;
    this.#view = attachment.view;
    const runtimeDirectories = [dirname(attachment.socketPath), tmpdir()];
    this.#tombstone = new Tombstone({ uid: ownUid(), runtimeDirectories });
  }

  /** What the server may use now. */
  get roots(): readonly LiveRoot[] {
    const { boundary } = this.#view;
    return this.#wire.map(({ uri, name, _meta }, i) => {
      return { uri, name, path: boundary[i]?.path ?? '', access: _meta[ACCESS_META] };
    });
  }

  /** Does the daemon answer? If not, the roots hold for 30 s at most. */
  get connected(): boolean {
    return this.#attachment.connected;
  }

  /**
   * Lets a `Client` of the SDK (1.x or 2.x) offer these roots: before it is connected. In a legacy session it also tells of
   * each change; in revision 2026-07-28 servers ask in each call. Where the policy says `roots: off`, none are offered.
   */
  install(client: SdkClient): void {
    if (!this.#view.plan.roots) return;
    client.registerCapabilities({ roots: { listChanged: true } });
    onRequest(client, METHOD.listRoots, () => this.#answer(client));
    this.#clients.add(client);
  }

  /** Completion of arguments by that client's server, for a field that a person types in. */
  completer(client: SdkClient, options: CompleterOptions = {}): Completer {
    const completer = new Completer(client, { ...this.#clockwork, ...options });
    this.#completers.add(completer);
    return completer;
  }

  /** Leaves the daemon. From now on nothing is allowed, and clients that are still connected say so. */
  close(): void {
    this.#attachment.close();
    void this.#take({ ...this.#view, roots: [], boundary: [], view: [] });
    // A server that is still there may ask: the empty directory stays for it, and goes with the next one that is made.
    if ([...this.#clients].every(({ transport }) => transport === undefined)) this.#tombstone.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Another view. It is acknowledged when the clients have been told. */
  async #take(view: ViewMessage): Promise<void> {
    const before = keyOf(this.#view);
    this.#view = view;
    if (keyOf(view) !== before) {
      for (const completer of this.#completers) completer.clear();
      const told = [...this.#clients].map((client) => this.#tell(client));
      this.emit('change', this.roots);
      await Promise.all(told);
    }
    this.#attachment.ack(view);
  }

  async #tell(client: SdkClient): Promise<void> {
    const isInitialized = client.transport !== undefined && client.getServerCapabilities() !== undefined;
    if (!isInitialized || speaksModern(client)) return;
    try {
      await client.sendRootsListChanged();
    } catch (error) {
      this.emit('warning', `A server could not be told that its roots have changed: ${(error as Error).message}`);
    }
  }

  get #wire(): readonly WireRoot[] {
    return this.#view.plan.roots ? this.#view.roots : [];
  }

  #answer(client: SdkClient): object {
    if (!this.#hasAsked) {
      this.#hasAsked = true;
      // Whoever has its list may be asked for more, see docs/consent.md. The list does not wait for that.
      const era = speaksModern(client) ? 'modern' : 'legacy';
      this.#attachment.report({ era, channels: ['roots'], askedForRoots: true, elicits: false });
    }
    return { roots: this.#told() };
  }

  /** What `roots/list` gives. A server to which an empty list means what it had, or everything, gets an empty directory. */
  #told(): readonly object[] {
    const isEmpty = this.#wire.length === 0;
    return isEmpty && this.#view.plan.empty !== 'empty' ? [this.#tombstone.root()] : this.#wire;
  }
}

/** Equal where the same is told: a directory that was replaced by another is a change. */
function keyOf({ plan, roots, boundary }: ViewMessage): string {
  return JSON.stringify([plan.roots, plan.empty, roots, boundary]);
}
