import { escapeForTerminal } from '../core/display.ts';
import type { TestResult } from '../core/run-tests.ts';
import { problemLine } from '../policy/format-problem.ts';
import { machineLayers } from './evaluate-files.ts';
import { EXIT, type Io, printJson, printLine } from './io.ts';
import { type LocateOptions, locateMachine } from './machine.ts';
import { readSettings } from './read-settings.ts';
import { warnIfElsewhere } from './warn-elsewhere.ts';

interface TestRow {
  readonly file: string;
  readonly line: number;
  readonly expected: string;
  readonly actual: string;
  readonly ok: boolean;
}

/** `rootsd test`: runs the tests of all layers; 1 where one fails or a policy cannot be read. */
export async function testCommand(options: LocateOptions & { readonly format: string }, io: Io): Promise<number> {
  const machine = locateMachine(options, io, 'command');
  const settings = await readSettings(machine);
  await warnIfElsewhere(machine, settings, io);
  const layers = machineLayers(machine, settings);
  const rows: TestRow[] = [];
  // Tests are run where the layer is activated too; here they are wanted one by one, also those that hold.
  const { problems } = await layers.reload({
    acceptEmpty: false,
    onTests: (results) => rows.push(...results.map(rowOf)),
  });
  const unread = problems.filter(({ code, severity }) => code !== 'POLICY_TEST_FAILED' && severity === 'error');
  const ok = rows.every((row) => row.ok) && unread.length === 0;
  if (options.format === 'json') printJson(io, { ok, tests: rows });
  else print(rows, io);
  for (const problem of unread) io.stderr.write(`${problemLine(problem)}\n`);
  return ok ? EXIT.yes : EXIT.no;
}

function rowOf({ test, expectedText, actualText, ok }: TestResult): TestRow {
  return { file: test.source.file, line: test.source.line, expected: expectedText, actual: actualText, ok };
}

function print(rows: readonly TestRow[], io: Io): void {
  for (const { file, line, expected, actual, ok } of rows) {
    if (!ok) printLine(io, escapeForTerminal(`${file}:${line}: expected ${expected}, the answer is ${actual}`));
  }
  const failed = rows.filter(({ ok }) => !ok).length;
  printLine(io, `${rows.length} ${rows.length === 1 ? 'test' : 'tests'}, ${failed} failed`);
}
