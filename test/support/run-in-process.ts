// `rootsd run` within this process: its host and what it attaches to are the test's, its server is a process.

import type { TestContext } from 'node:test';
import type { Timer } from '../../src/client/timer.ts';
import { unrefTimer } from '../../src/client/timer.ts';
import type { Ended } from '../../src/run/child.ts';
import { Notices } from '../../src/run/notices.ts';
import { RunSession } from '../../src/run/run-session.ts';
import { type FakeView, viewOf } from './fake-daemon.ts';
import { AttachmentInProcess, HostInProcess } from './host-in-process.ts';
import { OBEDIENT_SERVER } from './run-host.ts';
import { makeTree } from './tree.ts';

export interface RunInProcessOptions {
  /** What is in the tree, beside the directory of the socket. */
  readonly tree: readonly string[];
  /** The names of what the server may have. */
  readonly allowed: readonly string[];
  /** Of the obedient server. */
  readonly args?: (base: string) => readonly string[];
  readonly timer?: Timer;
}

export interface RunInProcess {
  readonly base: string;
  readonly host: HostInProcess;
  readonly attachment: AttachmentInProcess;
  /** The end of the session, which has begun. */
  readonly ended: Promise<Ended>;
  /** All that `run` has said. */
  readonly said: () => string;
  /** Of what has these names in the tree. */
  readonly view: (...names: readonly string[]) => FakeView;
}

/** Begins a session in front of the obedient server. */
export function startRunInProcess(t: TestContext, options: RunInProcessOptions): RunInProcess {
  const { tree, allowed, args = () => [], timer = unrefTimer } = options;
  const base = makeTree(t, [...tree, 'dir run']);
  const host = new HostInProcess();
  const view = (...names: readonly string[]): FakeView =>
    viewOf(Object.fromEntries(names.map((name) => [name, `${base}/${name}`])));
  const attachment = new AttachmentInProcess(`${base}/run`, view(...allowed));
  const said: string[] = [];
  const command = [process.execPath, OBEDIENT_SERVER, ...args(base)];
  const session = new RunSession({
    run: { server: 'o', host: null, socket: undefined, stdio: 'socket', command },
    host,
    mayStartEarly: () => true,
    reach: attachment.reach,
    runtimeDirectories: [],
    notices: new Notices((bytes) => said.push(String(bytes))),
    timer,
  });
  t.after(() => session.crash(new Error('the test is over')));
  return { base, host, attachment, view, ended: session.run(), said: () => said.join('') };
}
