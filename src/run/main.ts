// The entry of `rootsd run`, bundled alone: it stands in front of every server and must load next to nothing.

import { realTimer } from '../client/timer.ts';
import { RootsError } from '../core/errors.ts';
import { EXIT } from '../core/exit-status.ts';
import { findAccount, ownUid } from '../disk/account.ts';
import { operatingSystem } from '../disk/operating-system.ts';
import { parseRunArguments, type RunOptions, USAGE } from './arguments.ts';
import { openFdSink, openFdSource } from './bytes.ts';
import type { Ended } from './child.ts';
import { keepStandardErrorBlocking, Notices } from './notices.ts';
import { mayStartEarly, reachDaemon } from './reach-daemon.ts';
import { RunSession } from './run-session.ts';
import { systemTemporaryDirectory } from './temporary-directory.ts';
import { workingDirectory } from './working-directory.ts';

const ENDINGS = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const;
/** What these mean is the server's affair. Node would take the first for the wish to debug us. */
const OTHERS = ['SIGUSR1', 'SIGUSR2'] as const;
const PARENT_POLL_MS = 1_000;
/** A signal that we send to ourselves is there at once. */
const DEATH_MS = 200;

export interface RunMainOptions {
  /** The program, to start a daemon with. */
  readonly binRootsd: string;
}

/** Runs `rootsd run` with the arguments behind `run`, and ends this process as the server ended. */
export async function runMain(argv: readonly string[], options: RunMainOptions): Promise<never> {
  const notices = new Notices();
  let run: RunOptions | null;
  try {
    run = parseRunArguments(argv, process.env);
  } catch (error) {
    if (!(error instanceof RootsError)) throw error;
    notices.say(`${error.message}. ${error.hint}`);
    process.exit(EXIT.usage);
  }
  if (run === null) {
    process.stdout.write(USAGE);
    process.exit(EXIT.yes);
  }
  return endAs(await runSession(run, options, notices));
}

async function runSession(run: RunOptions, { binRootsd }: RunMainOptions, notices: Notices): Promise<Ended> {
  keepStandardErrorBlocking();
  const account = () => findAccount(ownUid(), process.env.HOME);
  const place = { run, account, env: process.env, cwd: workingDirectory(), binRootsd };
  const session = new RunSession({
    run,
    host: { source: openFdSource(0, () => process.stdin), sink: openFdSink(1, () => process.stdout) },
    mayStartEarly: () => mayStartEarly(place),
    reach: (heard) => reachDaemon({ ...place, heard }),
    runtimeDirectories: [`/run/user/${ownUid()}`, systemTemporaryDirectory()],
    notices,
    timer: realTimer,
  });
  for (const signal of ENDINGS) process.on(signal, () => session.signal(signal));
  for (const signal of OTHERS) process.on(signal, () => session.pass(signal));
  process.on('uncaughtException', (error) => endAsBug(session, error));
  watchParent(() => session.hostIsGone());
  return session.run();
}

/** What nobody has caught, rejections too, is a bug: no server must be left with a list that nobody keeps any more. */
function endAsBug(session: RunSession, error: unknown): never {
  try {
    session.crash(error);
  } finally {
    process.exit(EXIT.bug);
  }
}

/** A host that was killed may leave its end of our input open in another process: only its death tells then. */
function watchParent(onGone: () => void): void {
  const parent = process.ppid;
  const poll = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(poll);
    onGone();
  }, PARENT_POLL_MS);
  poll.unref();
}

/** Ends this process with the same status, or by the same signal: 128+n where that signal does not end us. */
function endAs({ status, signal }: Ended): Promise<never> {
  if (signal === null) process.exit(status ?? 1);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  return new Promise(() => {
    setTimeout(() => process.exit(128 + operatingSystem().constants.signals[signal]), DEATH_MS);
  });
}
