import { requestControl } from '../client/control.ts';
import { METHOD } from '../core/protocol.ts';
import type { ReloadReply } from '../daemon/control.ts';
import { EXIT, type Io, printJson, printLine } from './io.ts';
import { type LocateOptions, locateMachine } from './machine.ts';
import { printProblems } from './print-problems.ts';

/** Files may settle for 2 s, sessions acknowledge for 2 s, and reading takes what it takes: large layers a second a MiB. */
const DEADLINE_MS = 90_000;

export interface ReloadOptions extends LocateOptions {
  readonly format: string;
  readonly wait?: boolean;
  readonly acceptEmpty?: boolean;
}

/** `rootsd reload`: 1 where a policy was refused; late sessions do not change the status. */
export async function reloadCommand(options: ReloadOptions, io: Io): Promise<number> {
  const { search } = locateMachine(options, io, 'command');
  const params = { wait: options.wait ?? false, acceptEmpty: options.acceptEmpty ?? false };
  const reply = (await requestControl(METHOD.reload, params, { search, deadlineMs: DEADLINE_MS })) as ReloadReply;
  if (options.format === 'json') printJson(io, reply);
  else print(reply, io);
  return reply.problems.some(({ severity }) => severity === 'error') ? EXIT.no : EXIT.yes;
}

function print({ generation, changed, sessions, problems }: ReloadReply, io: Io): void {
  printLine(io, `Generation ${generation}, ${changed ? 'changed' : 'as before'}`);
  if (sessions.acknowledged > 0) printLine(io, `Sessions that have acknowledged: ${sessions.acknowledged}`);
  if (sessions.late > 0) printLine(io, `Sessions that have not yet: ${sessions.late}`);
  printProblems(problems, io);
}
