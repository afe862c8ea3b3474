// The parts of the daemon in order: opened one after the other, closed in reverse. A change of the policy or of the disk
// ends in refresh(): build the new whole, swap one reference, tell the sessions whose view changed.

import { basename } from 'node:path';
import type { Problem } from '../core/errors.ts';
import { type Evidence, gatherEvidence } from '../core/evidence.ts';
import { LOG_EVENTS } from '../core/log-event.ts';
import type { Observed, User } from '../core/peer.ts';
import { pathsOf } from '../core/policy.ts';
import { openRootWatcher, type RootWatcher } from '../disk/watch-roots.ts';
import { openPolicyWatcher } from '../policy/watch-policies.ts';
import { openControl } from '../socket/control.ts';
import { acquireLock } from '../socket/lock.ts';
import { openPeers } from '../socket/peers.ts';
import { VERSION } from '../version.ts';
import { controlHandlers, type ReloadReply, type StatusReply } from './control.ts';
import type { Layers, ReloadOutcome } from './layers.ts';
import type { Record } from './record.ts';
import { type SessionRow, Sessions } from './sessions.ts';
