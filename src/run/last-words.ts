// Why a daemon that we started has ended. Nobody listened: one that lives must not write into a pipe of ours, which ends with
// us. So it is started once more, and this time it is heard.

import { execFile } from 'node:child_process';

/** A daemon that comes up after all is ended again. */
const LISTEN_MS = 5_000;
const MAX_CHARACTERS = 1_000;

export interface LastWords {
  readonly what: string;
  readonly hint?: string;
}

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Runs a command that has failed once more. Resolves with what it says of its failure, or null where it says nothing or does not fail. */
export function hearFailure({ file, args, env }: Command): Promise<LastWords | null> {
  return new Promise((resolve) => {
    execFile(file, args, { cwd: '/', env, timeout: LISTEN_MS }, (error, _output, said) => {
      resolve(error === null || error.killed === true ? null : readLastWords(said));
    });
  });
}

/** The last sentence of a command of ours, and its advice; of another program, its last line. */
function readLastWords(said: string): LastWords | null {
  const lines = said.split('\n').filter((line) => line.trim() !== '');
  const at = lines.findLastIndex((line) => line.startsWith('rootsd: '));
  const what = lines
    .at(at)
    ?.replace(/^rootsd: /, '')
    .slice(0, MAX_CHARACTERS);
  if (what === undefined) return null;
  const hint = at === -1 ? undefined : lines[at + 1];
  return hint?.startsWith('  ') ? { what, hint: hint.trim().slice(0, MAX_CHARACTERS) } : { what };
}
