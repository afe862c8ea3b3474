// What the session may touch now: the daemon's view, narrowed by the host's roots, and the channels that carry it.

import { dirname } from 'node:path';
import type { Attachment } from '../client/attach.ts';
import type { Timer } from '../client/timer.ts';
import type { RealPath } from '../core/path.ts';
import type { LaunchPlan } from '../core/protocol.ts';
import type { HostRootsList } from './host-roots.ts';
import type { LineWriter } from './line-writer.ts';
import { expandArguments } from './placeholders.ts';
import { RootsChannel } from './roots-channel.ts';
import { narrowView, type Told } from './told.ts';
import { Tombstone } from './tombstone.ts';

export interface SessionRootsOptions {
  readonly attachment: Attachment;
  readonly server: LineWriter;
  readonly timer: Timer;
  /** As it was given, with its placeholders. */
  readonly command: readonly string[];
  /** Where a directory of our own may be made, after that of the daemon's socket. */
  readonly temporaryDirectory: string;
  readonly uid: number;
}

export class SessionRoots {
  readonly channel: RootsChannel;
  readonly plan: LaunchPlan;
  readonly #options: SessionRootsOptions;
  readonly #tombstone: Tombstone;
  #limits: readonly RealPath[] | null = null;
  #told: Told;

  constructor(options: SessionRootsOptions) {
    const { attachment, server, timer, uid, temporaryDirectory } = options;
    this.#options = options;
    this.plan = attachment.result.plan;
    this.#told = narrowView(attachment.view, null);
    const runtimeDirectories = [dirname(attachment.socketPath), `/run/user/${uid}`, temporaryDirectory];
    this.#tombstone = new Tombstone({ uid, runtimeDirectories });
    this.channel = new RootsChannel({ plan: this.plan, told: this.#told, server, tombstone: this.#tombstone, timer });
  }

  get isEmpty(): boolean {
    return this.#told.roots.length === 0;
  }

  /** The command line with the paths that hold now. Throws a RootsError TOMBSTONE_FAILED. */
  argv(): readonly string[] {
    const [command = '', ...args] = this.#options.command;
    return [command, ...expandArguments(args, this.#told, () => this.#tombstone.use())];
  }

  /** The daemon's view is another one. */
  update(): void {
    this.#told = narrowView(this.#options.attachment.view, this.#limits);
    this.channel.update(this.#told);
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
