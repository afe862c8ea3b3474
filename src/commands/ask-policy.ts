// One question, asked of the daemon where one answers (what is in force), else of the files.

import { requestControl } from '../client/control.ts';
import { RootsError } from '../core/errors.ts';
import { METHOD } from '../core/protocol.ts';
import type { StatusReply } from '../daemon/control.ts';
import {
  type ExplainedDecision,
  type ExplainedRoots,
  type ExplainedServer,
  explainRoots,
  explainServer,
  explainTarget,
  type Question,
} from '../daemon/explain.ts';
import { readUser } from '../disk/user-facts.ts';
import { problemLine } from '../policy/format-problem.ts';
import { type Evaluated, evaluateFiles } from './evaluate-files.ts';
import type { Io } from './io.ts';
import { type LocateOptions, locateMachine, type Machine } from './machine.ts';

/** Explains one root or path. */
export async function askAboutTarget(
  question: Question & { readonly target: string },
  options: LocateOptions,
  io: Io,
): Promise<ExplainedDecision> {
  const machine = locateMachine(options, io, 'command');
  const answer = await askDaemon(METHOD.explain, question, machine, io);
  if (answer !== null) return answer as ExplainedDecision;
  const { evidence } = await fromFiles(machine, io);
  return explainTarget(evidence, question, contextOf(machine));
}

/** Explains every root for one server. */
export async function askAboutServer(question: Question, options: LocateOptions, io: Io): Promise<ExplainedServer> {
  const machine = locateMachine(options, io, 'command');
  const answer = await askDaemon(METHOD.explain, question, machine, io);
  if (answer !== null) return answer as ExplainedServer;
  const { evidence, catalogue } = await fromFiles(machine, io);
  return explainServer(evidence, question, { ...contextOf(machine), catalogue });
}

/** The list that a server is told. */
export async function askForRoots(question: Question, options: LocateOptions, io: Io): Promise<ExplainedRoots> {
  const machine = locateMachine(options, io, 'command');
  const answer = await askDaemon(METHOD.roots, question, machine, io);
  if (answer !== null) return answer as ExplainedRoots;
  const { evidence } = await fromFiles(machine, io);
  return explainRoots(evidence, question, contextOf(machine));
}

/** The daemon's answer, or null where none answers. What is not as the files say is said first, on standard error. */
async function askDaemon(method: string, question: Question, { search }: Machine, io: Io): Promise<unknown> {
  try {
    const { state } = (await requestControl(METHOD.status, {}, { search })) as StatusReply;
    if (state !== 'ok') io.stderr.write(`rootsd: ${NOT_OK[state]}; see "rootsd status"\n`);
    return await requestControl(method, question, { search });
  } catch (error) {
    if (error instanceof RootsError && error.code === 'DAEMON_UNREACHABLE') return null;
    throw error;
  }
}

const NOT_OK = {
  degraded: 'the policy files are broken: this is the last good policy, which stays in force',
  lockdown: 'the policy files are broken and no good policy is known: nothing is allowed',
} as const;

/** Broken files are said on standard error: what they would deny is not known, so nothing is allowed. */
async function fromFiles(machine: Machine, io: Io): Promise<Evaluated> {
  const evaluated = await evaluateFiles(machine);
  for (const problem of evaluated.problems) io.stderr.write(`${problemLine(problem)}\n`);
  return evaluated;
}

function contextOf({ uid }: Machine): { readonly source: 'files'; readonly own: ReturnType<typeof readUser> } {
  return { source: 'files', own: readUser(uid) };
}
