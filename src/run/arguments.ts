import { RootsError } from '../core/errors.ts';
import { operatingSystem } from '../disk/operating-system.ts';
import type { StdioKind } from './child-stdio.ts';

export const USAGE = `rootsd run [--server NAME] [--host NAME] [--socket PATH] [--stdio socket|pipe]
           [--pdeathsig SIGNAL] -- COMMAND ARG...

Stands between a host and a server that speaks MCP on its standard input and output, and tells the server the roots
that the policy allows it.

  --server NAME   the server's name in the policy; without it, the one server whose command fits
  --host NAME     the name of the host that starts it
  --socket PATH   the daemon's socket (default: $ROOTSD_SOCKET, else where the daemon puts it); none is started then
  --stdio pipe    for servers that open /dev/stdin again: real pipes in place of a socket
  --pdeathsig SIGNAL
                  what the kernel sends the server when rootsd run itself is killed (Linux, with setpriv of util-linux)

In ARG, {roots} stands for the path of each root (one argument a root), {primary} for the first, {root:NAME} for
that one; the server is started again when they change.
`;

/** Those that take a value. */
const OPTIONS = ['server', 'host', 'socket', 'stdio', 'pdeathsig'] as const;
type Option = (typeof OPTIONS)[number];

export interface RunOptions {
  readonly server: string | null;
  readonly host: string | null;
  /** The daemon's socket; undefined: search, and start a daemon where there is none. */
  readonly socket: string | undefined;
  readonly stdio: StdioKind;
  /** What the server gets when we die without a word. */
  readonly deathSignal?: NodeJS.Signals;
  /** Command and arguments, as they were given. */
  readonly command: readonly string[];
}

/** Reads the arguments behind `rootsd run`; null: help is wanted. Throws a RootsError USAGE. */
export function parseRunArguments(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): RunOptions | null {
  const end = argv.indexOf('--');
  const values = parseOptions(end === -1 ? argv : argv.slice(0, end));
  if (values.help !== undefined) return null;
  const command = end === -1 ? [] : argv.slice(end + 1);
  if (command.length === 0) throw usage('The command of the server is missing: it stands behind "--"');
  const { server = null, host = null, socket = env.ROOTSD_SOCKET || undefined, stdio = 'socket', pdeathsig } = values;
  if (stdio !== 'socket' && stdio !== 'pipe') throw usage(`Option "--stdio" is "${stdio}", must be "socket" or "pipe"`);
  const deathSignal = pdeathsig === undefined ? {} : { deathSignal: parseSignal(pdeathsig) };
  return { server, host, socket, stdio, ...deathSignal, command };
}

/** `TERM` or `SIGTERM`. */
function parseSignal(name: string): NodeJS.Signals {
  const signal = name.startsWith('SIG') ? name : `SIG${name}`;
  if (Object.hasOwn(operatingSystem().constants.signals, signal)) return signal as NodeJS.Signals;
  throw usage(`Option "--pdeathsig" is "${name}", must be the name of a signal`);
}

/** Of options that are given twice the last counts. util.parseArgs() would do, but takes a millisecond of each start to load. */
function parseOptions(args: readonly string[]): Partial<Record<Option | 'help', string>> {
  const values: Partial<Record<Option | 'help', string>> = {};
  const rest = args.values();
  for (const arg of rest) {
    const [, name, joined] = /^--([a-z]+)(?:=(.*))?$/s.exec(arg) ?? [];
    if (arg === '--help' || arg === '-h') values.help = '';
    else if (!isOption(name)) throw usage(`"${arg}" is no option`);
    else values[name] = joined ?? valueBehind(arg, rest.next().value);
  }
  return values;
}

function isOption(name: string | undefined): name is Option {
  return OPTIONS.some((option) => option === name);
}

function valueBehind(option: string, value: string | undefined): string {
  if (value === undefined) throw usage(`Option "${option}" has no value`);
  if (value.startsWith('-'))
    throw usage(`Option "${option}" has no value: write "${option}=${value}" if it is "${value}"`);
  return value;
}

function usage(what: string): RootsError {
  return new RootsError('USAGE', { what }, { hint: 'rootsd run [--server NAME] -- COMMAND ARG...' });
}
