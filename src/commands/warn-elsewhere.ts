import { requestControl } from '../client/control.ts';
import { escapeForTerminal } from '../core/display.ts';
import { METHOD } from '../core/protocol.ts';
import type { StatusReply } from '../daemon/control.ts';
import type { Settings } from '../policy/settings.ts';
import type { Io } from './io.ts';
import type { Machine } from './machine.ts';

/** Short: a command must not wait for a daemon that it does not need. */
const DEADLINE_MS = 1_000;

/** Says on standard error where the running daemon reads other policies than this command: variables may differ. */
export async function warnIfElsewhere({ search }: Machine, { layers }: Settings, io: Io): Promise<void> {
  const read = await layersOfDaemon(search);
  for (const { layer, directory } of read) {
    const ours = layer === 'system' ? layers.system : layers.user;
    if (directory === ours) continue;
    const text = `the running daemon reads its ${layer} policies from "${directory}", this command from "${ours}"`;
    io.stderr.write(`rootsd: ${escapeForTerminal(text)}: see HOME and XDG_CONFIG_HOME\n`);
  }
}

async function layersOfDaemon(search: Machine['search']): Promise<StatusReply['layers']> {
  try {
    return ((await requestControl(METHOD.status, {}, { search, deadlineMs: DEADLINE_MS })) as StatusReply).layers;
  } catch {
    return [];
  }
}
