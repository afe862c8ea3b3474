// The parts of the daemon in order: opened one after the other, closed in reverse; and what each tells the others.

import type { Catalogue } from '../core/catalogue.ts';
import type { RootsError } from '../core/errors.ts';
import type { Evidence } from '../core/evidence.ts';
import { LOG_EVENTS } from '../core/log-event.ts';
import type { User } from '../core/peer.ts';
import type { RootFacts } from '../core/place.ts';
import { type Policy, pathsOf } from '../core/policy.ts';
import type { Ack, CallEnded, SessionReport } from '../core/protocol.ts';
import { SYSTEM_CLOCK } from '../disk/clock.ts';
import { failure } from '../disk/failure.ts';
import { kernelWalk } from '../disk/kernel-walk.ts';
import { machineMoment } from '../disk/moment.ts';
import type { Native } from '../disk/native.ts';
import type { Leads } from '../disk/path-look.ts';
import type { ReadProject } from '../disk/project-file.ts';
import { openRootWatcher, type RootWatcher } from '../disk/watch-roots.ts';
import { openPolicyWatcher, type PolicyWatcher } from '../policy/watch-policies.ts';
import type { AttachedSession, HostRoot } from '../socket/authority.ts';
import { Capacity } from '../socket/capacity.ts';
import { type Control, openControl } from '../socket/control.ts';
import type { ListenAt } from '../socket/listen.ts';
import { openPeers, type Peers } from '../socket/peers.ts';
import type { Log } from '../system/log.ts';
import { VERSION } from '../version.ts';
import { AccessRequests } from './access-requests.ts';
import { Acknowledgements, type Waited } from './acknowledgements.ts';
import { Activation, type InForce } from './activation.ts';
import { Consent, type ConsentOptions } from './consent.ts';
import { type ConsentControlled, consentHandlers } from './consent-control.ts';
import { type Administered, controlHandlers, type ReloadReply, type StatusReply } from './control.ts';
import { EndingRules } from './ending-rules.ts';
import { Endpoints } from './endpoints.ts';
import { KeptSockets } from './kept-sockets.ts';
import type { KnownServers } from './known-servers.ts';
import type { Layers, ReloadOutcome } from './layers.ts';
import { OpenParts } from './open-parts.ts';
import type { Launchers } from './person-behind.ts';
import { recordLayers, recordMounts, recordRoots, recordServers } from './record-state.ts';
import { Reloads } from './reloads.ts';
import type { SessionRow } from './session-rows.ts';
import { Sessions } from './sessions.ts';
import { type StatusFacts, statusOf } from './status.ts';

export interface DaemonOptions extends Pick<StatusFacts, 'configProblems' | 'keepingProblems'> {
  /** Not read yet. */
  readonly layers: Layers;
  /** What the policy watcher watches: the layers' directories. */
  readonly policyDirectories: readonly string[];
  readonly readProject: ReadProject;
  readonly knownServers: KnownServers;
  readonly own: User;
  readonly peersAt: ListenAt;
  readonly controlAt: ListenAt;
  /** Sockets of one server each. */
  readonly listeners: readonly { readonly name: string; readonly at: ListenAt }[];
  readonly limits: { readonly message: number; readonly queue: number; readonly sessions: number };
  /** What people have answered, and how they are asked. */
  readonly consent: Pick<ConsentOptions, 'store' | 'timeoutMs' | 'agents' | 'hosts' | 'channels'>;
  readonly native: Native | null;
  readonly log: Log;
  /** ms since the epoch */
  readonly now: () => number;
  /** Called after every change of what is in force: policy or disk. */
  readonly onChange?: () => void;
  /** Called when a session opens or closes, with how many there are. */
  readonly onSessions?: (count: number) => void;
  /** For the service manager: before each reload, and when none is under way any more. */
  readonly onReload?: { begin(): void; end(): void };
  readonly onStop: () => void;
  /** Nobody can connect any more: another daemon has our place, or there is none. */
  readonly onLost: (error: unknown) => void;
}

/** What a reload has read. */
interface Reading {
  readonly outcome: ReloadOutcome;
  /** Something else is known of servers than before. */
  readonly isKnownOtherwise: boolean;
}

/** How long `reload --wait` waits for sessions to acknowledge. */
const ACKNOWLEDGE_MS = 2_000;
/** A sweep apart. */
const MAX_RETRIES = 3;

/** Opens everything; when it resolves, both sockets answer. */
export async function openDaemon(options: DaemonOptions): Promise<Daemon> {
  const daemon = new Daemon(options);
  try {
    await daemon.open();
  } catch (error) {
    await daemon.close();
    throw error;
  }
  return daemon;
}

export class Daemon implements Administered, ConsentControlled, AsyncDisposable {
  readonly #options: DaemonOptions;
  readonly #since: number;
  readonly #acknowledgements = new Acknowledgements();
  readonly #parts: OpenParts;
  readonly #activation: Activation;
  readonly consent: Consent;
  readonly #accessRequests: AccessRequests;
  readonly #endingRules: EndingRules;
  #sessions: Sessions;
  readonly #endpoints: Endpoints;
  readonly #reloads: Reloads<Reading>;
  #roots: RootWatcher | undefined;
  #policies: PolicyWatcher | undefined;
  #retries = 0;
  #peers: Peers | undefined;

  constructor(options: DaemonOptions) {
    this.#options = options;
    this.#parts = new OpenParts({ onError: (error) => options.log('error', LOG_EVENTS.bug, { error }) });
    this.#since = options.now();
    this.#reloads = new Reloads({
      read: (acceptEmpty) => this.#read(acceptEmpty),
      takeUp: (reading) => this.#finish(reading),
      begin: () => options.onReload?.begin(),
      end: () => options.onReload?.end(),
    });
    const { layers, knownServers } = options;
    this.#activation = new Activation({
      layers,
      knownServers,
      nowMs: () => this.#endingRules.nowMs(),
      tell: (inForce, before) => this.#tell(inForce, before),
    });
    this.consent = new Consent({
      ...options.consent,
      readMoment: machineMoment(),
      clock: SYSTEM_CLOCK,
      record: options.log,
      onChange: () => void this.#activation.refresh(),
      onOwn: (sessions) => this.#sessions.separate(sessions),
      wantedOf: (session) => this.#sessions.wantedOf(session),
      launchers: () => this.#sessions.launchers(),
    });
    this.#parts.add(this.consent);
    this.#endingRules = this.#parts.add(
      new EndingRules({
        clock: SYSTEM_CLOCK,
        knownMs: () => this.consent.time.knownMs(),
        onChange: () => void this.#activation.refresh(),
        keepTime: () => this.consent.grants.keepTime(),
      }),
    );
    this.#accessRequests = new AccessRequests({
      questions: this.consent.questions,
      grants: this.consent.grants,
      viewOf: (session) => this.#sessions.viewOf(session),
      serialOf: (session) => this.#sessions.serialOf(session),
      wantedOf: (session) => this.#sessions.wantedOf(session),
      refreshed: () => this.refreshed(),
    });
    this.#sessions = new Sessions(this.#activation.inForce, {
      record: options.log,
      version: VERSION,
      policyDirectories: options.policyDirectories,
      now: options.now,
      grants: this.consent.grants,
    });
    this.#endpoints = this.#parts.add(
      new Endpoints({
        sightOf: (session) => this.#sessions.sightOf(session),
        resolve: (path) => this.resolve(path),
        request: (session, root, givenUp) => this.#request(session, root, givenUp),
        native: options.native,
        log: options.log,
      }),
    );
  }

  async open(): Promise<void> {
    const { layers, policyDirectories, log, native, now, limits, peersAt, controlAt } = this.#options;
    // Watched before it is read: no change falls in between.
    this.#policies = this.#parts.add(
      openPolicyWatcher({
        directories: policyDirectories,
        files: this.#options.knownServers.paths,
        onChange: () => void this.reload({ wait: false, acceptEmpty: false }),
        onWarning: (warning: RootsError) => log('warn', LOG_EVENTS.watchFallback, { error: warning }),
      }),
    );
    this.#report(await layers.reload());
    this.#roots = this.#parts.add(this.#watchRoots(layers.policy));
    this.#activation.begin(this.#roots);
    await this.#roots.ready();
    await this.#activation.refresh();
    const authority = {
      attach: this.#attach.bind(this),
      acknowledged: this.#acknowledged.bind(this),
      listed: (session: AttachedSession) => this.consent.listed(session),
      openEndpoint: this.#endpoints.open.bind(this.#endpoints),
      hostRoots: (session: AttachedSession, roots: readonly HostRoot[]) =>
        log('debug', LOG_EVENTS.hostRoots, { session: session.id, roots: roots.map(({ uri }) => uri) }),
      reported: (session: AttachedSession, report: SessionReport) => this.#reported(session, report),
      refused: this.#sessions.refused.bind(this.#sessions),
      answered: this.#answered.bind(this),
      requested: this.#accessRequests.request.bind(this.#accessRequests),
      callEnded: (session: AttachedSession, { call }: CallEnded) => this.#accessRequests.callEnded(session, call),
      closed: (session: AttachedSession) => this.#detach(session),
    };
    const capacity = new Capacity(limits);
    const shared = { limits, capacity, authority, native, log, now };
    const kept = new KeptSockets(this.#options.onLost);
    this.#peers = kept.add(this.#parts.add(await openPeers({ at: peersAt, ...shared })));
    for (const { name, at } of this.#options.listeners) {
      kept.add(this.#parts.add(await openPeers({ at, listener: name, ...shared })));
    }
    const handlers = { ...controlHandlers(this), ...consentHandlers(this) };
    kept.add(this.#parts.add<Control>(await openControl({ at: controlAt, handlers, limits, capacity, native, log })));
    this.#parts.add(kept);
  }

  #watchRoots(policy: Policy): RootWatcher {
    const { readProject, native, log } = this.#options;
    return openRootWatcher({
      declarations: policy.roots,
      patterns: pathsOf(policy),
      readProject,
      walk: kernelWalk(native?.openat2NoMagicLinks),
      isPatient: true,
      ...(native === null ? {} : { mountsChanged: native.mountsChanged }),
      onChange: () => void this.#activation.refresh(),
      onMounts: (changes) => recordMounts(log, changes),
      onWarning: (warning: RootsError) =>
        log('warn', warning.code === 'WATCH_LIMIT' ? LOG_EVENTS.watchFallback : LOG_EVENTS.placeLeftOut, {
          error: warning,
        }),
    });
  }

  /** Closes the parts in reverse; goes on when one fails. */
  async close(): Promise<void> {
    this.#activation.close();
    await this.#parts.close();
    this.#options.log('info', LOG_EVENTS.stopped, {});
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Where peers connect. */
  get address(): string {
    return this.#peers?.address ?? '';
  }

  get own(): User {
    return this.#options.own;
  }

  get catalogue(): Catalogue {
    return this.#options.knownServers.servers;
  }

  evidence(): Evidence {
    return this.#activation.inForce.evidence;
  }

  async resolve(path: string): Promise<Leads> {
    return (await this.#roots?.resolve(path)) ?? failure('has not been looked at yet');
  }

  policy(): Policy {
    return this.#activation.policy;
  }

  refreshed(): Promise<void> {
    return this.#activation.refreshed();
  }

  launchers(): Launchers {
    return this.#sessions.launchers();
  }

  sessionRows(): readonly SessionRow[] {
    return this.#sessions.rows();
  }

  /** Asks whoever opened it to close it. */
  stop(): void {
    this.#options.onStop();
  }

  status(): StatusReply {
    const { count: sessions } = this.#sessions;
    return statusOf(this.#options, { sessions, roots: this.evidence().roots.length, sinceMs: this.#since });
  }

  /** Reads all layers and what is known of servers again; with `wait` returns when all sessions that watch have acknowledged, or after 2 s. */
  async reload({ wait, acceptEmpty }: { readonly wait: boolean; readonly acceptEmpty: boolean }): Promise<ReloadReply> {
    const { layers, knownServers } = this.#options;
    const before = layers.generation;
    const { outcome, isKnownOtherwise } = await this.#reloads.ask(acceptEmpty);
    const { generation } = outcome;
    const problems = [...knownServers.problems, ...outcome.problems];
    const sessions = wait ? await this.#untilAcknowledged() : { acknowledged: 0, late: 0 };
    // The watcher may have been quicker: whoever asked has still seen a change.
    return { generation, changed: generation !== before || isKnownOtherwise, sessions, problems };
  }

  async #read(acceptEmpty: boolean): Promise<Reading> {
    const isKnownOtherwise = await this.#options.knownServers.reload();
    const outcome = await this.#options.layers.reload({ acceptEmpty, onLayer: () => this.#activation.activate() });
    return { isKnownOtherwise, outcome };
  }

  async #finish({ isKnownOtherwise, outcome }: Reading): Promise<void> {
    await this.#activation.activated();
    this.#report(outcome);
    if (!isKnownOtherwise) return;
    recordServers(this.#options.log, this.#options.knownServers);
    await this.#activation.refresh();
  }

  /** Also what the watcher has activated a moment before is waited for. */
  async #untilAcknowledged(): Promise<Waited> {
    const { acknowledged, open } = this.#sessions.watching();
    const waited = await this.#acknowledgements.wait(open, ACKNOWLEDGE_MS);
    return { acknowledged: acknowledged.length + waited.acknowledged, late: waited.late };
  }

  /** What is in force from now on, to everybody in turn. */
  *#tell(inForce: InForce, before: readonly RootFacts[]): Generator<void> {
    this.#endingRules.decided(inForce.evidence);
    yield* recordRoots(this.#options.log, before, inForce.evidence.roots);
    yield* this.#sessions.refreshInSteps(inForce);
    yield* this.consent.refreshInSteps();
    this.#endpoints.changed();
    this.#options.onChange?.();
  }

  *#attach(...given: Parameters<Sessions['attach']>): ReturnType<Sessions['attach']> {
    const attachment = yield* this.#sessions.attach(...given);
    this.#options.onSessions?.(this.#sessions.count);
    return attachment;
  }

  /** What a person has decided is in force when it resolves. */
  async #request(session: AttachedSession, root: string, givenUp: AbortSignal): Promise<void> {
    await this.consent.request(session, root, givenUp);
    await this.#activation.refresh();
  }

  #acknowledged(session: AttachedSession, ack: Ack): void {
    if (this.#sessions.acknowledge(session, ack)) this.#acknowledgements.receive(session);
  }

  /** A server that is told otherwise than by roots is given its list when it starts. */
  #reported(session: AttachedSession, report: SessionReport): void {
    this.#sessions.reported(session, report);
    this.consent.elicits(session, report.elicits && this.#sessions.isRun(session));
    const { askedForRoots, channels } = report;
    if (askedForRoots === true || channels.some((kind) => kind !== 'roots')) this.consent.listed(session);
  }

  /** What a person has said through their host is in force when it resolves. */
  async #answered(...given: Parameters<Consent['answered']>): ReturnType<Consent['answered']> {
    const gives = await this.consent.answered(...given);
    await this.refreshed();
    return gives;
  }

  #detach(session: AttachedSession): void {
    this.#acknowledgements.forget(session);
    this.#sessions.closed(session);
    this.#accessRequests.sessionClosed(session);
    this.consent.sessionClosed(session);
    this.#options.onSessions?.(this.#sessions.count);
  }

  /** A file that could not be read for a moment (EBUSY, EIO) looks the same when it can: look again, a few times. */
  #retry(): void {
    const unread = this.#options.layers.statuses.filter(({ problems }) =>
      problems.some(({ code }) => code === 'POLICY_UNREADABLE'),
    );
    this.#retries = unread.length === 0 ? 0 : this.#retries + 1;
    if (this.#retries > MAX_RETRIES) return;
    for (const { directory } of unread) this.#policies?.retry(directory);
  }

  #report(outcome: ReloadOutcome): void {
    this.#retry();
    if (outcome.moved.length > 0) this.#options.onChange?.();
    recordLayers(this.#options.log, outcome);
  }
}
