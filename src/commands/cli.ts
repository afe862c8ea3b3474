// The command line: every command with its options, in one table to read. Each command's code is loaded when it is called.

import { Command, CommanderError, Option } from 'commander';
import { RootsError } from '../core/errors.ts';
import { EXIT } from '../core/exit-status.ts';
import { VERSION } from '../version.ts';
import { refuseMangled } from './given-arguments.ts';
import type { Io } from './io.ts';
import { exitStatusFor, reportError } from './report-error.ts';
import { RESOLVE_HELP } from './resolve-help.ts';
import { usageErrorOf } from './usage-error.ts';

type Status = Promise<number>;

const CHECK_FORMATS = ['human', 'json', 'github', 'sarif'];

/** Runs one command line and returns its exit status. */
export async function runCli(argv: readonly string[], io: Io): Promise<number> {
  const result: { status: number } = { status: EXIT.yes };
  const program = buildProgram(io, (status) => {
    result.status = status;
  });
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return result.status;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.yes;
    // Without a command the help has been shown.
    if (error instanceof CommanderError && error.code === 'commander.help') return EXIT.usage;
    const ours = error instanceof CommanderError ? usageErrorOf(error.message) : error;
    reportError(ours, io);
    return exitStatusFor(ours);
  }
}

function buildProgram(io: Io, finish: (status: number) => void): Command {
  const program = new Command('rootsd')
    .description('Decides which directories each local MCP server may touch, tells the server, and makes it stick.')
    .version(VERSION, '--version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      // What is wrong is reported where it is caught.
      outputError: () => {},
    })
    .showSuggestionAfterError()
    .helpCommand(true);
  const run =
    <A extends readonly unknown[]>(act: (...given: A) => Status) =>
    async (...given: A): Promise<void> => {
      for (const text of textsIn(given)) {
        if (text === '') throw new RootsError('USAGE', { what: 'Cannot use an empty argument: nothing is named' });
        refuseMangled(`"${text}"`, text);
      }
      finish(await act(...given));
    };

  const command = (usage: string, description: string): Command =>
    program.command(usage).description(description).exitOverride();
  const reading = (usage: string, description: string, formats: readonly string[] = ['human', 'json']): Command =>
    command(usage, description).addOption(json()).addOption(format(formats));
  const located = (it: Command): Command =>
    it
      .option('--config <FILE>', 'read this rootsd.yaml')
      .option('--socket <PATH>', "the daemon's socket for peers; control.sock lies beside it");
  const who = (it: Command): Command =>
    it
      .option('--server <NAME>', 'a server that fulfils all selectors of its entry')
      .option('--claims <NAME>', 'a server that only says so')
      .option('--host <NAME>', 'the host that starts it')
      .option('--user <USER>', 'a name, uid:N or %group');

  located(command('serve', 'run the daemon'))
    .option('--system', 'serve the users of a machine (not built yet)')
    .option('--idle-exit <DURATION>', 'end this long after the last session, for example 10m')
    .option('--example', 'serve the example policies from a temporary home')
    .action(run(async (options) => (await import('./serve.ts')).serveCommand(options, io)));

  // Only for the list: bin/rootsd starts run/main.ts before this file is loaded.
  command('run', 'stand between a host and a server: rootsd run [--server NAME] -- COMMAND ARG…');

  located(command('mcp', 'serve the roots to an MCP client on standard input and output'))
    .option('--server <NAME>', 'the server that the policy takes the client for', 'rootsd')
    .option('--host <NAME>', 'the host that starts it')
    .action(run(async (options) => (await import('./mcp.ts')).mcpCommand(options, io)));

  located(
    reading(
      'check [path...]',
      'check policies: those of this machine, or the files and directories given',
      CHECK_FORMATS,
    ),
  ).action(run(async (paths, options) => (await import('./check.ts')).checkCommand(paths, options, io)));

  located(reading('test', "run the policies' own tests")).action(
    run(async (options) => (await import('./test.ts')).testCommand(options, io)),
  );

  reading('schema', 'print the JSON Schema of a kind of file', ['json'])
    .argument('[kind]', 'policy, config, servers or project', 'policy')
    .action(run(async (kind) => (await import('./schema.ts')).schemaCommand(kind, io)));

  who(located(reading('explain [target]', 'say what is decided about a root or a path, by which rule and why'))).action(
    run(async (target, options) => (await import('./explain.ts')).explainCommand(target, options, io)),
  );

  who(located(reading('roots', 'list the roots that a server is told'))).action(
    run(async (options) => (await import('./roots.ts')).rootsCommand(options, io)),
  );

  reading('resolve [path...]', 'canonicalize paths; with --within say whether they are inside')
    .option('--within <DIR>', 'a directory they must be inside (repeatable)', collect, [])
    .option('--uri', 'the paths are file: URIs')
    .option('--stdin', 'read JSON lines {"id","kind","input","roots"} from standard input')
    .addHelpText('after', RESOLVE_HELP)
    .action(run(async (paths, options) => (await import('./resolve.ts')).resolveCommand(paths, options, io)));

  located(reading('status', "the daemon's state"))
    .option('--watch', 'print it again at every change')
    .action(run(async (options) => (await import('./status.ts')).statusCommand(options, io)));

  located(reading('sessions', 'the live sessions')).action(
    run(async (options) => (await import('./sessions.ts')).sessionsCommand(options, io)),
  );

  located(reading('reload', 'read the policies again'))
    .option('--wait', 'return when every live session has acknowledged, or after 2 s')
    .option('--accept-empty', 'policies that are gone are meant to be gone')
    .action(run(async (options) => (await import('./reload.ts')).reloadCommand(options, io)));

  located(reading('allow <path>', 'allow a server a directory, in your own local.yaml'))
    .requiredOption('--server <NAME>', 'who may use it')
    .addOption(new Option('--access <ACCESS>', 'how').choices(['read-only', 'read-write']).default('read-only'))
    .option('--for <TIME>', 'for so long: 30m, 8h, 7d')
    .action(run(async (path, options) => (await import('./allow.ts')).allowCommand(path, options, io)));

  located(reading('revoke <path>', 'take back what "rootsd allow" gave'))
    .option('--server <NAME>', 'from this server alone')
    .action(run(async (path, options) => (await import('./revoke.ts')).revokeCommand(path, options, io)));

  const consent = command('consent', 'what people are asked and what they have answered');
  const asking = (usage: string, description: string): Command => {
    const it = consent.command(usage).description(description).exitOverride();
    return located(it.addOption(json()).addOption(format(['human', 'json'])));
  };
  const consents = () => import('./consent.ts');

  asking('list', 'list what is asked, what was given and what was answered')
    .option('--pending', 'what is asked')
    .option('--grants', 'what was given')
    .option('--history', 'what was answered, when and by whom')
    .action(run(async (options) => (await consents()).consentListCommand(options, io)));
  asking('show <id>', 'show a question or a grant, with all that it is bound to').action(
    run(async (id, options) => (await consents()).consentShowCommand(id, options, io)),
  );
  asking('approve <id>', 'say yes to a question')
    .option('--scope <SCOPE>', 'how long; the scope that ends first where omitted')
    .addOption(new Option('--access <ACCESS>', 'less than is asked for').choices(['read-only', 'read-write']))
    .option('--note <TEXT>', 'why, for the history')
    .action(run(async (id, options) => (await consents()).consentApproveCommand(id, options, io)));
  asking('deny <id>', 'say no to a question')
    .option('--note <TEXT>', 'why, for the history')
    .action(run(async (id, options) => (await consents()).consentDenyCommand(id, options, io)));
  asking('revoke [id]', 'take back what was given')
    .option('--all', 'all of it')
    .option('--server <NAME>', 'what was given to this server')
    .option('--root <ROOT>', 'what was given of this root, by its name or its path')
    .action(run(async (id, options) => (await consents()).consentRevokeCommand(id, options, io)));
  asking('reset', 'ask again what was refused').action(
    run(async (options) => (await consents()).consentResetCommand(options, io)),
  );
  located(consent.command('agent').description('show each question here as it comes, and answer it with a key'))
    .exitOverride()
    .option('--fallback', 'only while no other agent is there')
    .action(run(async (options) => (await import('./consent-agent.ts')).consentAgentCommand(options, io)));
  asking('export', 'print all that is kept, as JSON').action(
    run(async (options) => (await consents()).consentExportCommand(options, io)),
  );

  reading('version', 'the version of this program').action(
    run(async (options) => (await import('./version.ts')).versionCommand(options, io)),
  );

  return program;
}

/** The texts among arguments and options; a command of its own judges what `resolve` is given. */
function textsIn(given: readonly unknown[]): readonly string[] {
  if (given.some((one) => one instanceof Command && one.name() === 'resolve')) return [];
  return given.flatMap((one): readonly string[] => {
    if (typeof one === 'string') return [one];
    if (Array.isArray(one)) return one.filter((item) => typeof item === 'string');
    if (one instanceof Command || typeof one !== 'object' || one === null) return [];
    return Object.values(one).filter((value) => typeof value === 'string');
  });
}

function json(): Option {
  return new Option('--json', 'the same as --format json').implies({ format: 'json' });
}

/** The first of the formats is the default. */
function format(formats: readonly string[]): Option {
  return new Option('--format <FORMAT>', 'how to print').choices(formats).default(formats[0]);
}

function collect(value: string, previous: readonly string[]): readonly string[] {
  return [...previous, value];
}
