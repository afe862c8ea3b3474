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
    const head = ['SESSION', 'SERVER', 'CLASS', 'HOST', 'UID', 'PID', 'SINCE', 'ROOTS'];
    const rows = reply.sessions.map((row) =>
      [row.id, row.server, row.class, row.host, row.uid, row.pid, row.since, row.roots].map((cell) =>
        String(cell ?? '-'),
      ),
    );
    for (const line of alignColumns([head, ...rows])) printLine(io, escapeForTerminal(line));
  }
  return EXIT.yes;
}
