// How a person is reached, as rootsd.yaml says it.

import { Agents } from '../ask/agents.ts';
import { Askpass } from '../ask/askpass.ts';
import { Hosts } from '../ask/hosts.ts';
import { NotifySend } from '../ask/notify-send.ts';
import { Osascript } from '../ask/osascript.ts';
import { type Asking, ProgramChannel } from '../ask/program-channel.ts';
import { RootsError } from '../core/errors.ts';
import type { DaemonOptions } from '../daemon/daemon.ts';
import type { Settings } from '../policy/settings.ts';
import { type Trust, TrustedReader } from '../policy/trust.ts';
import type { Log } from '../system/log.ts';
import type { Machine } from './machine.ts';

export interface WaysToAskOptions {
  readonly machine: Machine;
  readonly settings: Settings;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly log: Log;
}

/** Beside the command line. */
export function waysToAsk(options: WaysToAskOptions): Pick<DaemonOptions['consent'], 'agents' | 'hosts' | 'channels'> {
  const { machine, settings, log } = options;
  const { channels, askpass } = settings.consent;
  const { uid, home } = machine;
  const desktop = channels.includes('desktop') ? desktopOf(options) : null;
  const asking: ProgramChannel[] = [];
  // There may be a desktop and nothing that shows: nobody has asked for it by name.
  if (desktop !== null) asking.push(new ProgramChannel(desktop, { uid, log, level: 'debug' }));
  if (askpass !== undefined) {
    const mustBeTrusted = () => refuseUntrusted(askpass, { layer: 'user', uid, home });
    asking.push(new ProgramChannel(new Askpass({ path: askpass, mustBeTrusted }), { uid, log, level: 'warn' }));
  }
  const agents = channels.includes('agent') ? new Agents() : null;
  return { agents, hosts: channels.includes('host') ? new Hosts() : null, channels: asking };
}

/** null: there is no desktop where we run. */
function desktopOf({ platform, env }: WaysToAskOptions): Asking | null {
  if (platform === 'darwin') return new Osascript();
  return env.DBUS_SESSION_BUS_ADDRESS === undefined ? null : new NotifySend();
}

/** As a policy file: who can write it could say yes. */
async function refuseUntrusted(path: string, trust: Trust): Promise<void> {
  const [problem] = await new TrustedReader(trust).judge(path);
  if (problem !== undefined) throw new RootsError('CONSENT_ASKPASS', { path, what: problem.message });
}
