import { isAbsolute, resolve } from 'node:path';
import { escapeForTerminal } from '../core/display.ts';
import { RootsError } from '../core/errors.ts';
import { type Effect, isName } from '../core/rule.ts';
import type { ExplainedDecision, ExplainedServer, Question } from '../daemon/explain.ts';
import { askAboutServer, askAboutTarget } from './ask-policy.ts';
import { alignColumns, EXIT, type Io, printJson, printLine } from './io.ts';
import { type LocateOptions, locateMachine } from './machine.ts';

export interface WhoOptions extends LocateOptions {
  readonly format: string;
  readonly server?: string;
  readonly claims?: string;
  readonly host?: string;
  readonly user?: string;
}

const STATUS: Readonly<Record<Effect, number>> = { allow: EXIT.yes, deny: EXIT.no, ask: EXIT.undecided };

/** `rootsd explain`: 0 allow, 1 deny, 2 ask; without a target every root, exit 0. */
export async function explainCommand(target: string | undefined, options: WhoOptions, io: Io): Promise<number> {
  const question = questionOf(options);
  if (target === undefined) {
    const answer = await askAboutServer(question, options, io);
    if (options.format === 'json') printJson(io, answer);
    else printServer(answer, io);
    return EXIT.yes;
  }
  const answer = await askAboutTarget({ ...question, target: absoluteTarget(target, options, io) }, options, io);
  if (options.format === 'json') printJson(io, answer);
  else printDecision(answer, io);
  return STATUS[answer.effect];
}

/** The peer that is asked about. Throws RootsError USAGE unless exactly one of --server and --claims is given. */
export function questionOf({ server, claims, host, user }: WhoOptions): Question {
  if ((server === undefined) === (claims === undefined)) {
    throw new RootsError('USAGE', { what: 'Cannot tell who is asked about: give --server NAME or --claims NAME' });
  }
  const given = { server, claims, host, user };
  for (const [option, name] of Object.entries({ server, claims, host })) {
    if (name !== undefined && !isName(name)) {
      throw new RootsError('USAGE', {
        what: `Cannot use "--${option} ${name}": it must be a name like those in policies`,
      });
    }
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** Paths start with `/`, `~` or `.`; anything else names a root. */
function absoluteTarget(target: string, options: WhoOptions, io: Io): string {
  if (target.startsWith('~')) return expandTilde(target, options, io);
  return target.startsWith('.') && !isAbsolute(target) ? resolve(io.cwd(), target) : target;
}

function expandTilde(target: string, options: WhoOptions, io: Io): string {
  const { home } = locateMachine(options, io, 'command');
  if (target === '~' || target.startsWith('~/')) return `${home}${target.slice(1)}`;
  throw new RootsError('USAGE', { what: `Cannot expand "${target}": only "~" and "~/" are` });
}

function printDecision(answer: ExplainedDecision, io: Io): void {
  const { effect, kind, access, askable, root, rule, why, facts, missing } = answer;
  const rows = [
    ['decision', [effect, access ?? '', `(${kind})`].filter((part) => part !== '').join(' ')],
    ['root', root === null ? 'none' : `${root.name} ${root.path}${root.available ? '' : ' (not available)'}`],
    ['rule', rule === null ? 'none' : `${rule.id} (${rule.layer} layer, ${rule.file}:${rule.line})`],
    ['why', why],
    ['askable', askable ?? 'nothing'],
    ['facts', facts.join(', ')],
    ['missing', missing.length === 0 ? 'nothing' : missing.join(', ')],
    ['source', answer.source === 'daemon' ? 'the daemon: this is in force' : 'the files: no daemon answers'],
  ];
  for (const line of alignColumns(rows)) printLine(io, escapeForTerminal(line));
}

function printServer({ server, channel, warnings, unenforced, decisions, source }: ExplainedServer, io: Io): void {
  printLine(io, escapeForTerminal(`server   ${server}`));
  printLine(io, escapeForTerminal(`channel  ${channel}`));
  printLine(io, `source   ${source}`);
  printLine(io);
  const rows = decisions.map(({ effect, access, root, why }) => [
    effect,
    access ?? '-',
    root?.name ?? '-',
    root?.path ?? '-',
    why,
  ]);
  if (rows.length === 0) printLine(io, 'No policy declares a root');
  for (const line of alignColumns([['EFFECT', 'ACCESS', 'ROOT', 'PATH', 'WHY'], ...rows])) {
    printLine(io, escapeForTerminal(line));
  }
  printLine(io);
  for (const sentence of warnings) printLine(io, escapeForTerminal(`mind: ${sentence}`));
  for (const sentence of unenforced) printLine(io, escapeForTerminal(`not enforced: ${sentence}`));
}
