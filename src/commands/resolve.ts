import { createBoundary, type Enclosures } from '../core/boundary.ts';
import { escapeForTerminal, toJson } from '../core/display.ts';
import { RootsError } from '../core/errors.ts';
import type { RealPath } from '../core/path.ts';
import type { Expansions } from '../core/pattern.ts';
import { findAccount, ownUid } from '../disk/account.ts';
import { failure } from '../disk/failure.ts';
import { resolveRoot } from '../disk/judge.ts';
import { expansionsOf } from '../system/expansions.ts';
import { isMangled } from './given-arguments.ts';
import { alignColumns, EXIT, type Io, printJson, printLine } from './io.ts';
import { readLines } from './read-lines.ts';
import { answerLine, type Defaults, judgeInput } from './resolve-request.ts';

export interface ResolveOptions {
  /** Directories or files, as paths or `file:` URIs. */
  readonly within: readonly string[];
  readonly uri?: boolean;
  readonly stdin?: boolean;
  readonly format: 'human' | 'json';
}

/** A longer line is answered as invalid and not kept. */
const MAX_LINE_BYTES = 1024 * 1024;

/** `rootsd resolve`: canonical paths and containment. Throws a RootsError `USAGE`. */
export async function resolveCommand(paths: readonly string[], options: ResolveOptions, io: Io): Promise<number> {
  checkUsage(paths, options);
  const defaults = { roots: openRoots(options.within, io), expansions: readExpansions(io) };
  if (options.stdin) return answerStdin(defaults, io);
  const rows = paths.map((path): Row => judgeArgument(path, options, { defaults, io }));
  return options.within.length > 0 ? printVerdicts(rows, options, io) : printCanonical(rows, options, io);
}

interface Row {
  readonly id: string;
  /** null: not asked, no directory was given to be inside of. */
  readonly verdict: 'inside' | 'outside' | 'invalid' | null;
  readonly canonical?: string;
  readonly root?: string;
  readonly why: string;
}

function checkUsage(paths: readonly string[], { stdin, uri }: ResolveOptions): void {
  if (stdin && (paths.length > 0 || uri)) {
    throw new RootsError('USAGE', { what: 'Cannot resolve: with --stdin each line brings its own path and kind' });
  }
  if (!stdin && paths.length === 0) throw new RootsError('USAGE', { what: 'Cannot resolve: no path is given' });
}

function judgeArgument(path: string, options: ResolveOptions, at: { defaults: Defaults; io: Io }): Row {
  if (isMangled(path)) return { id: path, verdict: 'invalid', why: 'is not valid UTF-8' };
  const verdict = options.uri
    ? judgeInput(path, 'uri', at.defaults)
    : judgeInput(absolute(path, at.io), 'path', at.defaults);
  if (options.within.length > 0 || verdict.verdict === 'invalid') return { id: path, ...verdict };
  return { id: path, verdict: null, canonical: verdict.canonical, why: 'no directory is given to be inside of' };
}

function printVerdicts(rows: readonly Row[], options: ResolveOptions, io: Io): number {
  if (options.format === 'json') printJson(io, rows);
  else {
    const cells = rows.map((row) => [row.verdict ?? '', row.canonical ?? row.id, row.why].map(escapeForTerminal));
    for (const line of alignColumns(cells)) printLine(io, line);
  }
  return rows.every(({ verdict }) => verdict === 'inside') ? EXIT.yes : EXIT.no;
}

function printCanonical(rows: readonly Row[], options: ResolveOptions, io: Io): number {
  if (options.format === 'json') printJson(io, rows);
  for (const { id, canonical, why } of options.format === 'json' ? [] : rows) {
    if (canonical !== undefined) printLine(io, escapeForTerminal(canonical));
    else io.stderr.write(`rootsd: Cannot resolve "${escapeForTerminal(id)}": ${escapeForTerminal(why)}\n`);
  }
  return rows.every(({ verdict }) => verdict !== 'invalid') ? EXIT.yes : EXIT.no;
}

/** Each answer is taken by the reader before the next line is looked at; a reader that has gone ends the command. */
async function answerStdin(defaults: Defaults, io: Io): Promise<number> {
  const ignore = (): void => {};
  io.stdout.on('error', ignore); // write() reports the same to its callback
  try {
    for await (const line of readLines(io.stdin, MAX_LINE_BYTES)) {
      if (line !== null && line.toString('latin1').trim() === '') continue;
      const gone = await write(io.stdout, `${toJson(answerLine(line, defaults))}\n`);
      if (gone) break;
    }
  } finally {
    io.stdout.off('error', ignore);
  }
  return EXIT.yes;
}

function write(stream: NodeJS.WritableStream, text: string): Promise<boolean> {
  return new Promise((resolve) => stream.write(text, (error) => resolve(error != null)));
}

/** Unusable directories grant nothing, and are named. */
function openRoots(within: readonly string[], io: Io): Enclosures {
  const usable = within.flatMap((text): readonly RealPath[] => {
    const root = isMangled(text)
      ? failure('is not valid UTF-8')
      : resolveRoot(text.startsWith('file:') ? text : absolute(text, io));
    if (root.ok) return [root.path];
    io.stderr.write(`rootsd: Cannot use --within "${escapeForTerminal(text)}": it ${root.why}\n`);
    return [];
  });
  return createBoundary(usable);
}

/** A text from the working directory on; an empty one stays empty, it names nothing. */
function absolute(path: string, io: Io): string {
  return path === '' || path.startsWith('/') ? path : `${io.cwd()}/${path}`;
}

function readExpansions(io: Io): Expansions {
  const account = findAccount(ownUid(), io.env.HOME);
  return expansionsOf(account, io.env.HOME || account.home || '');
}
