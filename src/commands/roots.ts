import { escapeForTerminal } from '../core/display.ts';
import type { ExplainedRoots } from '../daemon/explain.ts';
import { askForRoots } from './ask-policy.ts';
import { questionOf, type WhoOptions } from './explain.ts';
import { alignColumns, EXIT, type Io, printJson, printLine } from './io.ts';

/** `rootsd roots`: the list that a server is told. */
export async function rootsCommand(options: WhoOptions, io: Io): Promise<number> {
  const answer = await askForRoots(questionOf(options), options, io);
  if (options.format === 'json') printJson(io, answer);
  else print(answer, io);
  return EXIT.yes;
}

function print({ roots, view, warnings }: ExplainedRoots, io: Io): void {
  for (const sentence of warnings) io.stderr.write(`rootsd: ${escapeForTerminal(sentence)}\n`);
  const rows = roots.map(({ access, uri, name }) => [access, uri, name]);
  for (const line of alignColumns(rows)) printLine(io, escapeForTerminal(line));
  if (roots.length > 0) return;
  printLine(io, view.length === 0 ? 'No policy declares a root' : 'Nothing is allowed and available:');
  const reasons = view.map(({ root, effect, why }) => [`  ${root}`, effect, why]);
  for (const line of alignColumns(reasons)) printLine(io, escapeForTerminal(line));
}
