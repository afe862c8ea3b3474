import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { escapeForTerminal } from '../core/display.ts';
import type { Problem } from '../core/errors.ts';
import { formatProblem } from '../policy/format-problem.ts';
import { hasErrors } from '../policy/problem-order.ts';
import { MAX_POLICY_BYTES } from '../policy/read-layer.ts';
import { githubAnnotation, sarifLog } from '../policy/report-problems.ts';
import { VERSION } from '../version.ts';
import { type Checked, checkMachine, checkPaths } from './check-files.ts';
import { EXIT, type Io, printJson, printLine } from './io.ts';
import { type LocateOptions, locateMachine } from './machine.ts';

export interface CheckOptions extends LocateOptions {
  /** human, json, github or sarif */
  readonly format: string;
}

/** `rootsd check [PATH…]`: 0 (warnings too), 1 with problems, 78 where rootsd.yaml is broken. */
export async function checkCommand(paths: readonly string[], options: CheckOptions, io: Io): Promise<number> {
  const machine = locateMachine(options, io, 'command');
  const checked = paths.length === 0 ? await checkMachine(machine, io) : await checkPaths(machine, paths, io);
  await print(checked, options.format, io);
  if (checked.isConfigBroken) return EXIT.configuration;
  return hasErrors(checked.problems) ? EXIT.no : EXIT.yes;
}

async function print({ files, problems, directories }: Checked, format: string, io: Io): Promise<void> {
  switch (format) {
    case 'json':
      return printJson(io, { ok: !hasErrors(problems), files, problems });
    case 'sarif':
      return printJson(io, sarifLog(problems, VERSION));
    case 'github':
      for (const problem of problems) printLine(io, escapeForTerminal(githubAnnotation(problem)));
      return;
    default:
      return printForPeople({ files, problems, directories }, io);
  }
}

async function printForPeople(
  { files, problems, directories }: Omit<Checked, 'isConfigBroken'>,
  io: Io,
): Promise<void> {
  const color = io.stdout.isTTY === true && (io.env.NO_COLOR ?? '') === '';
  const texts = new Map<string, string | undefined>();
  for (const problem of problems) {
    if (!texts.has(problem.file)) texts.set(problem.file, await readText(problem.file));
    printLine(io, `${await formatProblem(problem, { text: texts.get(problem.file), color })}\n`);
  }
  for (const { path, state } of files) printLine(io, `${escapeForTerminal(path)}: ${state}`);
  const hasNone = files.every(({ path }) => !directories.includes(dirname(path)));
  if (hasNone && directories.length > 0) {
    printLine(io, escapeForTerminal(`No policy files in ${directories.join(' and ')}`));
  }
  printLine(io, summaryOf(files.filter(({ state }) => state !== 'ignored').length, problems));
}

/** For the code frame; undefined where there is nothing to show. */
async function readText(file: string): Promise<string | undefined> {
  try {
    const stats = await stat(file);
    return stats.isFile() && stats.size <= MAX_POLICY_BYTES ? await readFile(file, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}

function summaryOf(files: number, problems: readonly Problem[]): string {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const counted = [
    [files, 'file'],
    [errors, 'error'],
    [problems.length - errors, 'warning'],
  ] as const;
  return counted.map(([count, word]) => `${count} ${word}${count === 1 ? '' : 's'}`).join(', ');
}
