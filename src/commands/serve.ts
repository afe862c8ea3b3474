// `rootsd serve`: finds settings and directories, opens the daemon, waits for a signal, closes it.

import { realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { CONTROL_SOCKET, ENDPOINT_FILE, PEERS_SOCKET } from '../client/find-socket.ts';
import { RootsError } from '../core/errors.ts';
import { EXIT } from '../core/exit-status.ts';
import { LOG_EVENTS } from '../core/log-event.ts';
import { type Daemon, type DaemonOptions, openDaemon } from '../daemon/daemon.ts';
import { EarlyStarts } from '../daemon/early-starts.ts';
import { KnownServers } from '../daemon/known-servers.ts';
import type { Layers } from '../daemon/layers.ts';
import { createLayers } from '../daemon/open-layers.ts';
import { OpenParts, type Part } from '../daemon/open-parts.ts';
import { auditedLog } from '../daemon/record.ts';
import { noticeSlowPlaces } from '../daemon/slow-places-notice.ts';
import { privateGidOf, readAccount } from '../disk/account.ts';
import { openNative } from '../disk/native.ts';
import { makePrivateDirectory, type Owner } from '../disk/private-directory.ts';
import { readUser } from '../disk/user-facts.ts';
import { problemLine } from '../policy/format-problem.ts';
import { Prover } from '../policy/prover.ts';
import { readProject } from '../policy/read-project.ts';
import { parseDuration, type Settings } from '../policy/settings.ts';
import { checkPathLength } from '../socket/listen.ts';
import { acquireLock, lockBy } from '../socket/lock.ts';
import { type Audit, openAudit } from '../state/audit.ts';
import { openConsentStore } from '../state/consents.ts';
import { openLastGood } from '../state/last-good.ts';
import { LastingFile } from '../state/lasting-file.ts';
import { type Log, openLog } from '../system/log.ts';
import { openNotify } from '../system/notify.ts';
import { type InheritedSocket, inheritedSockets } from '../system/socket-activation.ts';
import { openWatchdog } from '../system/watchdog.ts';
import { VERSION } from '../version.ts';
import { cataloguesOf, ownPlacesOf } from './evaluate-files.ts';
import { type ExampleHome, makeExampleHome } from './example-home.ts';
import type { Io } from './io.ts';
import { type LocateOptions, locateMachine, type Machine } from './machine.ts';
import { packageFile } from './package-file.ts';
import { readSettings } from './read-settings.ts';
import { WatchedConfig } from './serve-config.ts';
import { type HangupOptions, HUNG_UP, IdleTimer, ReloadOnHangup, Stop, TerminalWatch } from './serve-life.ts';
import { Screen } from './serve-screen.ts';
import { waysToAsk } from './ways-to-ask.ts';

export interface ServeOptions extends LocateOptions {
  readonly system?: boolean;
  readonly idleExit?: string;
  readonly example?: boolean;
}

/** What a timer of Node can hold; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Runs the daemon until SIGTERM, SIGINT, `--idle-exit` or the end of its terminal; else SIGHUP reads the policies again. */
export async function serveCommand(options: ServeOptions, io: Io): Promise<number> {
  if (options.system)
    throw new RootsError('USAGE', { what: 'Cannot serve a whole machine: --system is not built yet' });
  const status = await (options.example ? serveExample(options, io) : serve(options, io, null));
  // Node aborts where it leaves a terminal that is gone: let the signal end us, as it ends others.
  if (status === HUNG_UP) process.kill(process.pid, 'SIGHUP');
  return status;
}

async function serveExample(options: ServeOptions, io: Io): Promise<number> {
  const example = makeExampleHome(packageFile('policies'), io.env);
  try {
    const { stdin, stdout, stderr, argv } = io;
    const own: Io = { stdin, stdout, stderr, argv, cwd: () => io.cwd(), env: example.env };
    return await serve({ ...options, config: example.config, socket: options.socket ?? example.socket }, own, example);
  } finally {
    example.close();
  }
}

async function serve(options: ServeOptions, io: Io, example: ExampleHome | null): Promise<number> {
  const idleMs = idleLimit(options.idleExit);
  const machine = locateMachine(options, io, 'serve');
  const settings = await readSettings(machine);
  const screen = new Screen(io, example);
  // What the log would say of policies and roots the screen says in words; a person need not read it twice.
  const level = screen.isShown && settings.log.level === 'info' ? 'error' : settings.log.level;
  const log = openLog({ level, stream: io.stderr });
  const parts = new OpenParts({ onError: (error) => log.log('error', LOG_EVENTS.bug, { error }) });
  parts.add(log);
  try {
    const stop = parts.add(new Stop(log.log));
    if (example !== null) parts.add(new TerminalWatch(() => stop.now(HUNG_UP)));
    const idle = parts.add(new IdleTimer(idleMs, () => stop.now()));
    const config = parts.add(new WatchedConfig({ machine, settings, log: log.log, setLevel: log.setLevel }));
    const daemon = await openParts(machine, settings, parts, {
      log: log.log,
      configProblems: () => config.problems,
      onChange: () => screen.changed(),
      onSessions: (count) => idle.sessions(count),
      onStop: () => stop.now(),
      onLost: (error) => {
        log.log('error', LOG_EVENTS.socketLost, { error });
        stop.now(EXIT.tryAgain);
      },
      onTerminalGone: () => stop.now(HUNG_UP),
    });
    screen.open(daemon, settings);
    return await stop.wanted;
  } finally {
    await parts.close();
  }
}

type Events = HangupOptions &
  Pick<DaemonOptions, 'onStop' | 'onLost' | 'configProblems'> &
  Required<Pick<DaemonOptions, 'onChange' | 'onSessions'>>;

/** Opens lock, state and daemon, and tells clients where it is. */
async function openParts(machine: Machine, settings: Settings, parts: OpenParts, events: Events): Promise<Daemon> {
  const owner = ownerOf(machine);
  const socket = machine.search.explicit ?? join(machine.runtimeDirectory, PEERS_SOCKET);
  const hangup = parts.add(new ReloadOnHangup(events));
  const native = await openNative();
  checkPathLength(socket);
  makePrivateDirectory(machine.stateDirectory, owner);
  const lock = parts.add(await acquireLock(dirname(socket), lockBy(native)));
  // Two daemons in two places would tear the chain of one audit.
  if (lock.directory !== realpathSync.native(machine.stateDirectory)) {
    parts.add(await acquireLock(machine.stateDirectory, lockBy(native)));
  }
  const lastGood = parts.add(
    openLastGood({ directory: join(machine.stateDirectory, 'last-good'), owner, log: events.log }),
  );
  const consents = parts.add(
    await openConsentStore({ path: join(machine.stateDirectory, 'consents.json'), owner, log: events.log }),
  );
  const log = auditedLog(events.log, parts.add(openAuditOf(machine, settings, owner, events.log)));
  noticeSlowPlaces([settings.layers.system, settings.layers.user, machine.stateDirectory], log);
  const sockets = inheritedSockets(process.env, process.pid);
  const inherited = (name: string) => sockets.find((one) => one.name === name);
  const notify = openNotify({ address: process.env.NOTIFY_SOCKET, send: native?.sendDatagram, log });
  const prover = parts.add(new Prover());
  const layers = createLayers({
    expansions: machine.expansions,
    uid: machine.uid,
    directories: settings.layers,
    own: ownPlacesOf(machine, settings),
    listeners: settings.listeners.map(({ name }) => name),
    lastGood,
    prove: (input) => prover.prove(input),
    now: Date.now,
  });
  const knownServers = await KnownServers.open(cataloguesOf(machine, settings));
  const early = parts.add(new EarlyStarts(socket));
  const daemon: Daemon = parts.add(
    await openDaemon({
      ...events,
      onChange: () => {
        early.update(layers.policy, knownServers.servers);
        events.onChange();
      },
      knownServers,
      onReload: { begin: () => notify.reloading(), end: () => notify.ready(statusText(layers)) },
      layers,
      keepingProblems: () => [...lastGood.problems(), ...consents.problems()],
      policyDirectories: [settings.layers.system, settings.layers.user],
      readProject,
      own: readUser(machine.uid),
      peersAt: inherited('peers') ?? { path: socket },
      controlAt: inherited('control') ?? { path: join(dirname(socket), CONTROL_SOCKET) },
      listeners: listenersOf(settings, dirname(socket), { inherited, log }),
      limits: limitsOf(settings),
      consent: {
        store: consents,
        timeoutMs: settings.consent.timeoutMs,
        ...waysToAsk({ machine, settings, env: process.env, platform: process.platform, log }),
      },
      native,
      log,
      now: Date.now,
    }),
  );
  parts.add(await announce(machine, daemon, log));
  hangup.attach(daemon);
  notify.ready(statusText(layers));
  parts.add({ close: () => notify.stopping() });
  parts.add(openWatchdog({ env: process.env, pid: process.pid, alive: () => notify.alive() }));
  log('info', LOG_EVENTS.started, { version: VERSION, ...inForce(layers) });
  return daemon;
}

/** Writes where peers connect into the state directory: for clients that look there. Others need it not to find us. */
async function announce({ stateDirectory }: Machine, { address }: Daemon, log: Log): Promise<Part> {
  const file = new LastingFile({ path: join(stateDirectory, ENDPOINT_FILE), log, lost: LOG_EVENTS.endpointLost });
  await file.write(`${address}\n`);
  return {
    async close() {
      await file.remove();
      file.close();
    },
  };
}

function inForce({ generation, state }: Layers): { readonly generation: string; readonly state: string } {
  return { generation, state };
}

/** One line for `systemctl status`: what is in force, and what is wrong first. */
function statusText({ state, generation, problems }: Layers): string {
  const [first] = problems.filter(({ severity }) => severity === 'error');
  return first === undefined ? `Generation ${generation} is in force` : `${state}: ${problemLine(first)}`;
}

function idleLimit(text: string | undefined): number | null {
  if (text === undefined) return null;
  const limitMs = /^[1-9]\d{0,4}[smh]$/.test(text) ? parseDuration(text) : Number.POSITIVE_INFINITY;
  if (limitMs <= MAX_TIMER_MS) return limitMs;
  const what = `Cannot use "--idle-exit ${text}": it must be like 30s, 10m or 1h, and at most 24 days`;
  throw new RootsError('USAGE', { what });
}

function openAuditOf({ stateDirectory }: Machine, { audit }: Settings, owner: Owner, log: Log): Audit {
  const path = isAbsolute(audit.file) ? audit.file : join(stateDirectory, audit.file);
  const { sizeBytes, keep } = audit;
  return openAudit({ path, sizeBytes, keep, owner, log, now: () => new Date() });
}

interface ListenerContext {
  readonly inherited: (name: string) => InheritedSocket | undefined;
  readonly log: Log;
}

/** The named listeners that servers connect to. */
function listenersOf({ listeners }: Settings, directory: string, context: ListenerContext): DaemonOptions['listeners'] {
  return listeners.flatMap(({ name, path, mode, speaks }) => {
    if (speaks === 'client') {
      context.log('warn', LOG_EVENTS.listenerLeftOut, { listener: name, why: '"speaks: client" is not built yet' });
      return [];
    }
    return [{ name, at: context.inherited(name) ?? { path: resolve(directory, path), mode } }];
  });
}

function limitsOf({ limits }: Settings): DaemonOptions['limits'] {
  const { messageBytes, queueBytes, sessions } = limits;
  return { message: messageBytes, queue: queueBytes, sessions };
}

function ownerOf({ uid }: Machine): Owner {
  const account = readAccount(uid);
  return account === null ? { uid } : { uid, privateGid: privateGidOf(account) };
}
