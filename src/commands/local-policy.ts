// The user's policies.d/local.yaml and what an edit of it would do, found out before anything is written.

import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { type Problem, RootsError } from '../core/errors.ts';
import type { Evidence } from '../core/evidence.ts';
import { composePolicy, type LayerPolicy } from '../core/policy.ts';
import { failedTests } from '../daemon/layers.ts';
import { privateGidOf, readAccount } from '../disk/account.ts';
import { writeDurably } from '../disk/durable-write.ts';
import { makePrivateDirectory } from '../disk/private-directory.ts';
import { compileLayer, type LayerFile } from '../policy/compile-layer.ts';
import { hasErrors } from '../policy/problem-order.ts';
import { readLayer } from '../policy/read-layer.ts';
import { lookAtPlaces, machineLayers } from './evaluate-files.ts';
import type { Machine } from './machine.ts';
import { readSettings } from './read-settings.ts';

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
export async function openLocalPolicy(machine: Machine): Promise<LocalPolicy> {
  const settings = await readSettings(machine);
  const directory = settings.layers.user;
  const layers = machineLayers(machine, settings);
  await layers.reload();
  const broken = layers.problems.find(({ severity }) => severity === 'error');
  if (broken !== undefined) throw new RootsError('POLICY_BROKEN', { problem: broken.message }, { at: broken });
  const upper = layers.policy.layers.filter(({ layer }) => layer !== 'user');
  const texts = await userTexts(machine, directory, upper);
  const path = join(directory, 'local.yaml');
  return {
    path,
    text: texts.find((file) => file.path === path)?.text ?? '',
    before: lookAtPlaces(layers.policy),
    check: (text) => checkEdit(machine, upper, withText(texts, path, text)),
    write: (text) => writeLocal(machine, directory, path, text),
  };
}

async function userTexts(
  { expansions, uid, home }: Machine,
  directory: string,
  upper: readonly LayerPolicy[],
): Promise<readonly LayerFile[]> {
  const read = await readLayer({ layer: 'user', directory, expansions, trust: { uid, home }, upper });
  return read.state === 'good' ? read.texts : [];
}

function checkEdit(machine: Machine, upper: readonly LayerPolicy[], files: readonly LayerFile[]): CheckedEdit {
  const compiled = compileLayer({ layer: 'user', files, expansions: machine.expansions, upper });
  if (compiled.policy === null) return { after: null, problems: compiled.problems };
  const layers = [...upper, compiled.policy];
  const problems = [...compiled.problems, ...failedTests(layers, compiled.policy)];
  return { after: hasErrors(problems) ? null : lookAtPlaces(composePolicy(layers)), problems };
}

/** The files of the layer with one of them replaced or added, in the byte order of their names. */
function withText(files: readonly LayerFile[], path: string, text: string): readonly LayerFile[] {
  const others = files.filter((file) => file.path !== path);
  return [...others, { path, text }].sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
}

async function writeLocal({ uid }: Machine, directory: string, path: string, text: string): Promise<void> {
  const account = readAccount(uid);
  makePrivateDirectory(directory, account === null ? { uid } : { uid, privateGid: privateGidOf(account) });
  await writeDurably(path, text);
  chmodSync(path, 0o600);
}
