// No daemon answers: ask the service manager for one, else start one.
//
// What is started must not be shaped by the launcher, whose environment may come from a file of a repository: it gets an
// environment of its own, `/` as its directory and no descriptors. Which of several daemons serves, their lock decides.

import { spawn } from 'node:child_process';
import { RootsError } from '../core/errors.ts';
import type { FoundAccount } from '../disk/account.ts';
import { type Command, hearFailure } from './last-words.ts';
import { startService } from './service-manager.ts';

/** Of Node, for a daemon: V8 keeps up to 48 MiB for young objects, of which a daemon makes few. The units say the same. */
const DAEMON_FLAGS = ['--max-semi-space-size=2'];
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const START_MS = 10_000;
const POLL_MS = 50;
/** `serve` gives way to a daemon that was quicker. */
const LOST_THE_LOCK = 75;

export interface DaemonToStart {
  readonly account: FoundAccount;
  /** The program, for `serve`. */
  readonly binRootsd: string;
}

export interface StartOptions<T> extends DaemonToStart {
  /** Tries to reach a daemon; null: there is none yet. */
  readonly reach: () => Promise<T | null>;
  /** `$HOME` of who started us; a daemon of ours does not go by it. */
  readonly envHome: string | undefined;
}

/** Resolves with what `reach` gives once a daemon answers. Throws a RootsError DAEMON_UNREACHABLE that says what to do. */
export async function startDaemon<T>(options: StartOptions<T>): Promise<T> {
  const failure = await bringUpDaemon(options);
  const deadline = performance.now() + START_MS;
  for (;;) {
    const reached = await options.reach();
    if (reached !== null) return reached;
    const why = failure();
    if (why !== null) throw await failedStart(why, options);
    if (performance.now() > deadline) throw unreachable(`none answered within ${START_MS / 1_000} s`, options);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function failedStart(why: string, daemon: Omit<StartOptions<unknown>, 'reach'>): Promise<RootsError> {
  const words = await hearFailure(serveCommand(daemon));
  if (words === null) return unreachable(why, daemon, 'Run "rootsd serve" by hand to see why');
  return unreachable(`${why}: ${words.what}`, daemon, words.hint ?? 'Mend that, then start the server again');
}

function unreachable(
  what: string,
  { account: { home }, envHome }: Omit<StartOptions<unknown>, 'reach'>,
  advice?: string,
): RootsError {
  const isElsewhere = home !== null && envHome !== undefined && envHome !== home;
  const elsewhere = `"run" uses the home "${home}" of the user database, not HOME="${envHome}": start "rootsd serve" and give both --socket PATH`;
  const hints = [...(advice === undefined ? [] : [advice]), ...(isElsewhere ? [elsewhere] : [])];
  return new RootsError('DAEMON_UNREACHABLE', { what }, hints.length === 0 ? {} : { hint: hints.join('. ') });
}

/** Gets a daemon on its way; the returned function says why it cannot come up, or null. */
export async function bringUpDaemon(daemon: DaemonToStart): Promise<() => string | null> {
  return (await startService(daemon.account, environmentOf(daemon.account))) ? () => null : spawnDaemon(daemon);
}

/** Starts a daemon of our own; the returned function says why it cannot come up, or null. */
function spawnDaemon(options: DaemonToStart): () => string | null {
  const end: { why: string | null } = { why: null };
  const { file, args, env } = serveCommand(options);
  const daemon = spawn(file, args, { cwd: '/', env, stdio: 'ignore', detached: true });
  daemon.on('error', (error) => {
    end.why = `"${process.execPath}" cannot be started: ${error.message}`;
  });
  daemon.on('exit', (status, signal) => {
    if (status !== LOST_THE_LOCK) end.why = `"rootsd serve" ended with ${signal ?? `status ${status}`}`;
  });
  daemon.unref();
  return () => end.why;
}

function serveCommand({ account, binRootsd }: DaemonToStart): Command {
  const args = [...DAEMON_FLAGS, binRootsd, 'serve', '--idle-exit', '10m'];
  return { file: process.execPath, args, env: environmentOf(account) };
}

function environmentOf({ name, home, shell }: FoundAccount): Record<string, string> {
  return {
    ...(home === null ? {} : { HOME: home }),
    USER: name,
    LOGNAME: name,
    SHELL: shell === '' ? '/bin/sh' : shell,
    PATH,
    LANG: 'C.UTF-8',
  };
}
