// The user's policies.d/local.yaml and what an edit of it would do, found out before anything is written.

import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Problem, RootsError } from '../core/errors.ts';
import type { Evidence } from '../core/evidence.ts';
import { composePolicy, type LayerPolicy } from '../core/policy.ts';
import { failedTests } from '../daemon/layers.ts';
import { privateGidOf, readAccount } from '../disk/account.ts';
import { removeLeftovers, writeDurably } from '../disk/durable-write.ts';
import { checkPrivateDirectory, makePrivateDirectory } from '../disk/private-directory.ts';
import type { LayerFile } from '../policy/compile-layer.ts';
import { decodeText } from '../policy/decode-text.ts';
import { removeEnded } from '../policy/edit-local.ts';
import { problemLine } from '../policy/format-problem.ts';
import { hasErrors } from '../policy/problem-order.ts';
import { proveLayer } from '../policy/prove-layer.ts';
import { MAX_POLICY_BYTES, readLayer } from '../policy/read-layer.ts';
import { lookAtPlaces, machineLayers } from './evaluate-files.ts';
import { EXIT, type Io, printJson } from './io.ts';
import type { Machine } from './machine.ts';
import { readSettings } from './read-settings.ts';
import { warnIfElsewhere } from './warn-elsewhere.ts';

export interface LocalPolicy {
  readonly path: string;
  /** Empty where there is no file yet. */
  readonly text: string;
  /** What is in force before the edit. */
  readonly before: Evidence;
  /** Compiles the layer with another text of the file. */
  check(text: string): CheckedEdit;
  write(text: string): Promise<void>;
}

export interface CheckedEdit {
  /** null where the edit would make the policy wrong. */
  readonly after: Evidence | null;
  readonly problems: readonly Problem[];
}

/** Opens local.yaml. Throws a RootsError POLICY_BROKEN where the policies of this machine have an error already. */
export async function openLocalPolicy(machine: Machine, io: Io): Promise<LocalPolicy> {
  const settings = await readSettings(machine);
  await warnIfElsewhere(machine, settings, io);
  const directory = settings.layers.user;
  const layers = machineLayers(machine, settings);
  await layers.reload();
  if (hasErrors(layers.problems)) throw broken(layers.problems);
  const upper = layers.policy.layers.filter(({ layer }) => layer !== 'user');
  const texts = await userTexts(machine, directory, upper);
  const path = join(directory, 'local.yaml');
  const text = texts.find((file) => file.path === path)?.text ?? '';
  return {
    path,
    text,
    before: lookAtPlaces(layers.policy),
    check: (edited) => checkEdit(machine, upper, withText(texts, path, edited)),
    write: (edited) => writeLocal(machine, path, { from: text, to: edited }),
  };
}

async function userTexts(
  { expansions, uid, home }: Machine,
  directory: string,
  upper: readonly LayerPolicy[],
): Promise<readonly LayerFile[]> {
  const read = await readLayer({ layer: 'user', directory, expansions, trust: { uid, home }, upper });
  if (read.state === 'absent') return [];
  if (read.state === 'good') return read.texts;
  throw broken(read.problems);
}

function broken(problems: readonly Problem[]): RootsError {
  const first = problems.find(({ severity }) => severity === 'error');
  const problem = first?.message ?? '';
  return new RootsError('POLICY_BROKEN', { problem }, first === undefined ? {} : { at: first });
}

function checkEdit(machine: Machine, upper: readonly LayerPolicy[], files: readonly LayerFile[]): CheckedEdit {
  const proven = proveLayer({ layer: 'user', files, expansions: machine.expansions, upper });
  const problems = [...proven.problems, ...failedTests(proven.results)];
  if (proven.policy === null || hasErrors(problems)) return { after: null, problems };
  return { after: lookAtPlaces(composePolicy([...upper, proven.policy])), problems };
}

/** The files of the layer with one of them replaced or added, in the byte order of their names. */
function withText(files: readonly LayerFile[], path: string, text: string): readonly LayerFile[] {
  const others = files.filter((file) => file.path !== path);
  return [...others, { path, text }].sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
}

/** The same of a text without the rules of ours that have ended, where nothing else needs what they declare. */
export function checkTidied(local: LocalPolicy, text: string, nowMs: number): CheckedEdit & { readonly text: string } {
  const tidied = removeEnded(text, nowMs);
  const checked = local.check(tidied);
  return tidied === text || checked.after !== null ? { ...checked, text: tidied } : { ...local.check(text), text };
}

/** Says what would be wrong; nothing was written. */
export function refuseEdit({ problems }: CheckedEdit, format: string, io: Io): number {
  if (format === 'json') printJson(io, { written: false, problems });
  else for (const problem of problems) io.stderr.write(`${problemLine(problem)}\n`);
  io.stderr.write('rootsd: nothing was written: the policy would be wrong\n');
  return EXIT.no;
}

interface Edit {
  /** What was read and checked. */
  readonly from: string;
  readonly to: string;
}

/** Links and modes are the user's own affair and stay as they are, unless the daemon would not trust the file there. */
async function writeLocal(machine: Machine, path: string, edit: Edit): Promise<void> {
  const account = readAccount(machine.uid);
  const owner = account === null ? { uid: machine.uid } : { uid: machine.uid, privateGid: privateGidOf(account) };
  if (!existsSync(dirname(path))) makePrivateDirectory(dirname(path), owner);
  const stats = statSync(path, { throwIfNoEntry: false });
  const target =
    stats === undefined ? join(realpathSync.native(dirname(path)), basename(path)) : realpathSync.native(path);
  checkPrivateDirectory(dirname(target), owner);
  const now = stats === undefined ? '' : decodeText(path, readFileSync(target), MAX_POLICY_BYTES);
  if (now !== edit.from) throw new RootsError('POLICY_CHANGED', { file: path });
  removeLeftovers(target);
  await writeDurably(target, edit.to, { mode: stats === undefined ? 0o600 : stats.mode & 0o777 });
}
