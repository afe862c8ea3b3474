import { SharedSlices } from '../disk/shared-slices.ts';
import { DescriptorRoom } from './descriptor-room.ts';
import { HeldBytes } from './held-bytes.ts';
import type { LineLimits } from './json-lines.ts';
import { SessionRoom } from './session-room.ts';

/** As much as so many of the longest messages is held for all peers together. */
const HELD_MESSAGES = 16;

/** What all sockets of a daemon share, so that a limit holds over all of them together. */
export class Capacity {
  readonly sessions: SessionRoom;
  readonly held: HeldBytes;
  readonly descriptors: DescriptorRoom;
  /** In which peers are let in. */
  readonly slices = new SharedSlices();

  constructor(limits: LineLimits & { readonly sessions: number }, descriptors = new DescriptorRoom()) {
    this.sessions = new SessionRoom(limits.sessions);
    this.held = new HeldBytes(HELD_MESSAGES * limits.message);
    this.descriptors = descriptors;
  }
}
