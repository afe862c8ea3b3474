import type { TestContext } from 'node:test';
import type { LaunchPlan } from '../../src/core/protocol.ts';
import { FakeDaemon, viewOf } from './fake-daemon.ts';
import { OBEDIENT_SERVER, RunHost } from './run-host.ts';
import { makeTree } from './tree.ts';

export interface RunSetup {
  /** Holds the directories `a` and `b`. */
  readonly base: string;
  /** Allows `a`. */
  readonly daemon: FakeDaemon;
  readonly host: RunHost;
}

export interface RunSetupOptions {
  readonly plan?: Partial<LaunchPlan>;
  /** The same, where files must be there first. */
  readonly prepare?: (base: string) => Partial<LaunchPlan>;
  /** The command behind `--`; the obedient server by default. */
  readonly command?: readonly string[];
  /** Arguments of the obedient server. */
  readonly args?: readonly string[];
  /** More options of `run`. */
  readonly options?: readonly string[];
  /** Names of what the daemon allows, of `a` and `b`. */
  readonly allowed?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** `rootsd run` between a host and the obedient server, with a fake daemon. */
export async function setUpRun(t: TestContext, program: string, setup: RunSetupOptions = {}): Promise<RunSetup> {
  const { plan = {}, prepare = () => plan, args = [], options = [], allowed = ['a'], env = {} } = setup;
  const base = makeTree(t, ['dir a', 'dir b', 'dir run']);
  const roots = Object.fromEntries(allowed.map((name) => [name, `${base}/${name}`]));
  const daemon = await FakeDaemon.start(t, `${base}/run`, viewOf(roots));
  daemon.plan = { ...daemon.plan, ...prepare(base) };
  const command = setup.command ?? [process.execPath, OBEDIENT_SERVER, ...args];
  const all = ['--socket', daemon.socket, '--server', 'o', ...options, '--', ...command];
  return { base, daemon, host: new RunHost(t, { program, args: all, env }) };
}
