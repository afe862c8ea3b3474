import { requestControl } from '../client/control.ts';
import { escapeForTerminal } from '../core/display.ts';
import { METHOD } from '../core/protocol.ts';
import type { StatusReply } from '../daemon/control.ts';
import { alignColumns, EXIT, type Io, printJson, printLine } from './io.ts';
import { type LocateOptions, locateMachine } from './machine.ts';
import { printProblems } from './print-problems.ts';

export interface StatusOptions extends LocateOptions {
  readonly format: string;
  readonly watch?: boolean;
}

/** How often `--watch` asks. */
const WATCH_MS = 1_000;

/** `rootsd status`: exit 0 also when degraded. */
export async function statusCommand(options: StatusOptions, io: Io): Promise<number> {
  const { search } = locateMachine(options, io, 'command');
  let printed = '';
  do {
    const status = (await requestControl(METHOD.status, {}, { search })) as StatusReply;
    const text = JSON.stringify(status);
    if (text !== printed) print(status, options.format, io);
    printed = text;
    if (options.watch) await new Promise((resolve) => setTimeout(resolve, WATCH_MS));
  } while (options.watch);
  return EXIT.yes;
}

function print(status: StatusReply, format: string, io: Io): void {
  if (format === 'json') {
    printJson(io, status);
    return;
  }
  const { version, generation, state, sessions, roots, since } = status;
  const rows = [
    ['state', state],
    ['generation', generation],
    ['sessions', String(sessions)],
    ['roots', String(roots)],
    ['since', since],
    ['version', version],
    ...status.layers.map((layer) => [`${layer.layer} layer`, `${layer.state}, ${filesOf(layer)}`]),
  ];
  for (const line of alignColumns(rows)) printLine(io, escapeForTerminal(line));
  printProblems(status.problems, io);
}

function filesOf({ directory, state, files }: StatusReply['layers'][number]): string {
  if (state === 'lockdown') return `nothing of ${directory} is in force`;
  return files.length === 0 ? `no files in ${directory}` : files.join(', ');
}
