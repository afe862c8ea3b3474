import { requestControl } from '../client/control.ts';
import { escapeForTerminal } from '../core/display.ts';
import { METHOD } from '../core/protocol.ts';
import type { SessionsReply } from '../daemon/control.ts';
import { alignColumns, EXIT, type Io, printJson, printLine } from './io.ts';
import { type LocateOptions, locateMachine } from './machine.ts';

/** `rootsd sessions`. */
export async function sessionsCommand(options: LocateOptions & { readonly format: string }, io: Io): Promise<number> {
  const { search } = locateMachine(options, io, 'command');
  const reply = (await requestControl(METHOD.sessions, {}, { search })) as SessionsReply;
  if (options.format === 'json') printJson(io, reply);
  else if (reply.sessions.length === 0) printLine(io, 'No sessions');
  else {
    for (const line of alignColumns([HEAD, ...reply.sessions.map(cellsOf)])) printLine(io, escapeForTerminal(line));
    const deaf = reply.sessions.filter(({ askedForRoots }) => askedForRoots === false).length;
    if (deaf > 0)
      printLine(io, `\nASKED no (${deaf}): the server has not asked for its roots, so they restrict it nowhere`);
  }
  return EXIT.yes;
}

const HEAD = ['SESSION', 'SERVER', 'CLASS', 'HOST', 'UID', 'PID', 'SINCE', 'ERA', 'CHANNEL', 'ASKED', 'ROOTS'];

function cellsOf(row: SessionsReply['sessions'][number]): readonly string[] {
  const { id, server, class: peerClass, host, uid, pid, since, era, channels, askedForRoots, roots } = row;
  const channel = channels.length === 0 ? null : channels.join('+');
  const asked = askedForRoots === null ? null : askedForRoots ? 'yes' : 'no';
  return [id, server, peerClass, host, uid, pid, since, era, channel, asked, roots].map((cell) => String(cell ?? '-'));
}
