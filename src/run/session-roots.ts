// What the session may touch now: the daemon's view, narrowed by the host's roots, and the channels that carry it.

import { dirname } from 'node:path';
import type { Attachment } from '../client/attach.ts';
import type { Timer } from '../client/timer.ts';
import type { RealPath } from '../core/path.ts';
import type { LaunchPlan } from '../core/protocol.ts';
import { type ChannelKind, carriersOf } from '../core/server-traits.ts';
import { Tombstone } from '../disk/tombstone.ts';
import type { Guard } from './guard/guard.ts';
import type { HostRootsList } from './host-roots.ts';
import { type Launch, prepareLaunch } from './launch.ts';
import type { LineWriter } from './line-writer.ts';
import { hasPlaceholders } from './placeholders.ts';
import { RootsChannel } from './roots-channel.ts';
import { narrowView, type Told } from './told.ts';

export interface SessionRootsOptions {
  readonly attachment: Attachment;
  readonly server: LineWriter;
  readonly guard: Guard;
  readonly timer: Timer;
  /** As it was given, with its placeholders. */
  readonly command: readonly string[];
  /** Where a directory of our own may be made, after that of the daemon's socket. */
  readonly runtimeDirectories: readonly string[];
  readonly uid: number;
  /** The server has taken up what it was told last. */
  readonly onSettled: () => void;
  /** The server has asked for its roots. */
  readonly onAsked: () => void;
  readonly warn: (sentence: string) => void;
  /** What must be told cannot be. */
  readonly onFault: (error: unknown) => void;
}

export class SessionRoots {
  readonly channel: RootsChannel;
  readonly #options: SessionRootsOptions;
  readonly #tombstone: Tombstone;
  /** What the host last listed; null: nothing. */
  #limits: readonly RealPath[] | null = null;
  #plan: LaunchPlan;
  #told: Told;

  constructor(options: SessionRootsOptions) {
    const { attachment, server, timer, uid, onSettled, onAsked, onFault } = options;
    this.#options = options;
    this.#plan = attachment.view.plan;
    this.#told = narrowView(attachment.view, null);
    const runtimeDirectories = [dirname(attachment.socketPath), ...options.runtimeDirectories];
    this.#tombstone = new Tombstone({ uid, runtimeDirectories });
    const [plan, told, tombstone] = [this.#plan, this.#told, this.#tombstone];
    this.channel = new RootsChannel({ plan, told, server, tombstone, timer, onSettled, onAsked, onFault });
    this.#options.guard.update(plan, told.places, told.offers);
  }

  /** What holds of the server's entry in the policy. */
  get plan(): LaunchPlan {
    return this.#plan;
  }

  get isEmpty(): boolean {
    return this.#told.roots.length === 0;
  }

  /** What carries the boundary. */
  get carriers(): readonly ChannelKind[] {
    const { channels } = this.#plan;
    return carriersOf(channels, hasPlaceholders(this.#options.command.slice(1))).map(({ kind }) => kind);
  }

  /** Do roots alone carry the boundary? Then a server that does not ask for them knows nothing of it. */
  get isRootsChannel(): boolean {
    const { carriers } = this;
    return carriers.length === 1 && carriers[0] === 'roots';
  }

  /**
   * What starts a server with the paths that hold now; null: there must be none. Says what of them cannot travel. Throws as
   * prepareLaunch() does.
   */
  launch(): Launch | null {
    const { command, attachment, warn } = this.#options;
    const { view, boundary } = attachment.view;
    const names = [...new Set([...view, ...boundary].map(({ root }) => root))];
    const tombstone = (): string => this.#tombstone.use();
    const { places } = this.#told;
    const { launch, warnings } = prepareLaunch({ command, places, names, plan: this.#plan, tombstone });
    for (const warning of warnings) warn(warning);
    return launch;
  }

  /** The daemon's view is another one. */
  update(): void {
    const { view } = this.#options.attachment;
    this.#plan = view.plan;
    this.#told = narrowView(view, this.#plan.hostRoots === 'narrow' ? this.#limits : null);
    // The guard first: what is taken away is so before the server hears of it.
    this.#options.guard.update(this.#plan, this.#told.places, this.#told.offers);
    this.channel.update(this.#told, this.#plan);
  }

  /** The host has said which of its directories it means. */
  narrow({ limits, uris }: HostRootsList): void {
    this.#limits = limits;
    this.#options.attachment.hostRoots(uris);
    this.update();
  }

  close(): void {
    this.#tombstone.close();
  }
}
