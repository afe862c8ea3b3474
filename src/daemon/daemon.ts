// The parts of the daemon in order: opened one after the other, closed in reverse. A change of the policy or of the disk
// ends in #refresh(): build the new whole, swap one reference, tell the sessions whose view changed. That is done in
// slices, for a policy can name thousands of places: peers are answered in between, from what is in force then.

import type { Catalogue } from '../core/catalogue.ts';
import { type Problem, type RootsError, startOf } from '../core/errors.ts';
import { type Evidence, gatherEvidence, gatherInSteps } from '../core/evidence.ts';
import { LOG_EVENTS } from '../core/log-event.ts';
import { patternPath } from '../core/pattern.ts';
import type { User } from '../core/peer.ts';
import type { RootFacts } from '../core/place.ts';
import { type Policy, pathsOf } from '../core/policy.ts';
import type { Ack, SessionReport } from '../core/protocol.ts';
import { SYSTEM_CLOCK } from '../disk/clock.ts';
import { failure } from '../disk/failure.ts';
import { kernelWalk } from '../disk/kernel-walk.ts';
import { machineMoment } from '../disk/moment.ts';
import type { MountChange } from '../disk/mounts.ts';
import type { Native } from '../disk/native.ts';
import type { Leads } from '../disk/path-look.ts';
import type { ReadProject } from '../disk/project-file.ts';
import { nextTurn, runInSlices } from '../disk/slices.ts';
import { openRootWatcher, type RootWatcher } from '../disk/watch-roots.ts';
import { openPolicyWatcher, type PolicyWatcher } from '../policy/watch-policies.ts';
import type { AttachedSession, HostRoot } from '../socket/authority.ts';
import { Capacity } from '../socket/capacity.ts';
import { type Control, openControl } from '../socket/control.ts';
import type { ListenAt } from '../socket/listen.ts';
import { openPeers, type Peers } from '../socket/peers.ts';
import type { Log } from '../system/log.ts';
import { VERSION } from '../version.ts';
import { Acknowledgements, type Waited } from './acknowledgements.ts';
import { Consent, type ConsentOptions } from './consent.ts';
import { type ConsentControlled, consentHandlers } from './consent-control.ts';
import { type Administered, controlHandlers, type ReloadReply, type StatusReply } from './control.ts';
import { Endpoints } from './endpoints.ts';
import { KeptSockets } from './kept-sockets.ts';
import type { KnownServers } from './known-servers.ts';
import type { LayerStatus, Layers, ReloadOutcome } from './layers.ts';
import { OpenParts } from './open-parts.ts';
import { Reloads } from './reloads.ts';
import { type SessionRow, Sessions } from './sessions.ts';

export interface DaemonOptions {
  /** Not read yet. */
  readonly layers: Layers;
  /** What the policy watcher watches: the layers' directories. */
  readonly policyDirectories: readonly string[];
  readonly readProject: ReadProject;
  readonly knownServers: KnownServers;
  /** What is wrong with rootsd.yaml while an older reading of it is in force. */
  readonly configProblems: () => readonly Problem[];
  /** What of the last good states is not kept: that says nothing of what is in force. */
  readonly keepingProblems: () => readonly Problem[];
  readonly own: User;
  readonly peersAt: ListenAt;
  readonly controlAt: ListenAt;
  /** Sockets of one server each. */
  readonly listeners: readonly { readonly name: string; readonly at: ListenAt }[];
  readonly limits: { readonly message: number; readonly queue: number; readonly sessions: number };
  /** What people have answered, and how they are asked. */
  readonly consent: Pick<ConsentOptions, 'store' | 'timeoutMs' | 'agents' | 'channels'>;
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
/** Local disks are looked at in less: whoever is told a list need not be told two. */
const NARROW_MS = 100;
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
  #policy: Policy;
  /** Of the policy. */
  #generation = '';
  /** What is to be in force once its places are looked at, and when it is. */
  #next = { generation: '', done: Promise.resolve() };
  #evidence: Evidence;
  /** What is to be in force, while that is looked at for long: what it denies acts already. */
  #limiting: Policy | null = null;
  /** Under way; null: nothing has changed since the last one. */
  #refreshing: Promise<void> | null = null;
  /** Something has changed since the one under way has begun. */
  #isStale = false;
  #isClosed = false;
  readonly consent: Consent;
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
    this.#policy = options.layers.policy;
    this.#evidence = gatherEvidence(this.#policy, { roots: [], resolved: new Map() });
    this.consent = new Consent({
      ...options.consent,
      readMoment: machineMoment(),
      clock: SYSTEM_CLOCK,
      record: options.log,
      onChange: () => void this.#refresh(),
      onOwn: (sessions) => this.#sessions.separate(sessions),
      wantedOf: (session) => this.#sessions.wantedOf(session),
    });
    this.#parts.add(this.consent);
    const inForce = {
      evidence: this.#evidence,
      generation: this.#generation,
      policyState: options.layers.state,
      catalogue: options.knownServers.servers,
    };
    this.#sessions = new Sessions(inForce, {
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
        request: (session, root) => this.#request(session, root),
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
    this.#policy = layers.policy;
    this.#generation = layers.generation;
    this.#next = { generation: this.#generation, done: Promise.resolve() };
    this.#roots = this.#parts.add(
      openRootWatcher({
        declarations: this.#policy.roots,
        patterns: pathsOf(this.#policy),
        readProject: this.#options.readProject,
        walk: kernelWalk(native?.openat2NoMagicLinks),
        isPatient: true,
        ...(native === null ? {} : { mountsChanged: native.mountsChanged }),
        onChange: () => void this.#refresh(),
        onMounts: (changes) => this.#reportMounts(changes),
        onWarning: (warning: RootsError) =>
          log('warn', warning.code === 'WATCH_LIMIT' ? LOG_EVENTS.watchFallback : LOG_EVENTS.placeLeftOut, {
            error: warning,
          }),
      }),
    );
    await this.#roots.ready();
    await this.#refresh();
    const authority = {
      attach: this.#attach.bind(this),
      acknowledged: this.#acknowledged.bind(this),
      listed: (session: AttachedSession) => this.consent.listed(session),
      openEndpoint: this.#endpoints.open.bind(this.#endpoints),
      hostRoots: (session: AttachedSession, roots: readonly HostRoot[]) =>
        log('debug', LOG_EVENTS.hostRoots, { session: session.id, roots: roots.map(({ uri }) => uri) }),
      reported: (session: AttachedSession, report: SessionReport) => this.#reported(session, report),
      refused: this.#sessions.refused.bind(this.#sessions),
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

  /** Closes the parts in reverse; goes on when one fails. */
  async close(): Promise<void> {
    this.#isClosed = true;
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
    return this.#evidence;
  }

  async resolve(path: string): Promise<Leads> {
    return (await this.#roots?.resolve(path)) ?? failure('has not been looked at yet');
  }

  policy(): Policy {
    return this.#policy;
  }

  refreshed(): Promise<void> {
    return this.#refreshing ?? Promise.resolve();
  }

  launchers(): readonly (number | null)[] {
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
    const { layers, knownServers } = this.#options;
    const wrong = [...this.#options.configProblems(), ...knownServers.problems, ...this.#consentProblems()];
    return {
      version: VERSION,
      generation: layers.generation,
      state: layers.state === 'ok' && wrong.length > 0 ? 'degraded' : layers.state,
      problems: [...wrong, ...layers.problems, ...this.#options.keepingProblems()],
      sessions: this.#sessions.count,
      roots: this.#evidence.roots.length,
      since: new Date(this.#since).toISOString(),
      layers: layers.statuses.map(layerReply),
    };
  }

  /** What people have answered cannot be used: nothing of it holds. */
  #consentProblems(): readonly Problem[] {
    const { refusal } = this.#options.consent.store;
    if (refusal === null) return [];
    const { code, message } = refusal;
    return [{ ...startOf(this.#options.consent.store.path), code, message, severity: 'error' }];
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
    const outcome = await this.#options.layers.reload({ acceptEmpty, onLayer: () => this.#activate() });
    return { isKnownOtherwise, outcome };
  }

  async #finish({ isKnownOtherwise, outcome }: Reading): Promise<void> {
    await this.#next.done;
    this.#report(outcome);
    if (isKnownOtherwise) await this.#takeUpKnownServers();
  }

  /** Also what the watcher has activated a moment before is waited for. */
  async #untilAcknowledged(): Promise<Waited> {
    const { acknowledged, open } = this.#sessions.watching();
    const waited = await this.#acknowledgements.wait(open, ACKNOWLEDGE_MS);
    return { acknowledged: acknowledged.length + waited.acknowledged, late: waited.late };
  }

  /**
   * Where the policy set has changed: look where its places are, then decide anew. Until all are looked at, half of what
   * the new policy denies is unknown: what was in force stays, and if that takes long, only what the new one tells too.
   */
  #activate(): void {
    const { policy, generation } = this.#options.layers;
    if (generation !== this.#next.generation) this.#next = { generation, done: this.#takeUp(policy, generation) };
  }

  async #takeUp(policy: Policy, generation: string): Promise<void> {
    const looked = this.#roots?.update(policy.roots, pathsOf(policy));
    const narrowing = setTimeout(() => this.#narrow(policy, generation), NARROW_MS);
    await looked;
    clearTimeout(narrowing);
    await nextTurn();
    // A later one has waited for the same looks.
    if (generation !== this.#next.generation) return;
    this.#generation = generation;
    this.#policy = policy;
    this.#limiting = null;
    await this.#refresh();
  }

  async #takeUpKnownServers(): Promise<void> {
    const { log, knownServers } = this.#options;
    const { problems } = knownServers;
    if (problems.length === 0) log('info', LOG_EVENTS.catalogueRead, { files: knownServers.paths });
    else log('warn', LOG_EVENTS.catalogueRejected, { problems: problems.map(brief) });
    await this.#refresh();
  }

  /** What the new policy denies acts now, as far as it is known where that is; what it grants waits. */
  #narrow(policy: Policy, generation: string): void {
    if (generation !== this.#next.generation) return;
    this.#limiting = policy;
    void this.#refresh();
  }

  /**
   * Decides anew for every session; resolves when all have been told. What changes while it is under way does not begin it
   * anew, or changes without end would keep it from its end: it is done once more.
   */
  #refresh(): Promise<void> {
    this.#isStale = true;
    this.#refreshing ??= this.#refreshUntilFresh().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  async #refreshUntilFresh(): Promise<void> {
    const isClosed = () => this.#isClosed;
    while (this.#isStale && !isClosed()) {
      this.#isStale = false;
      await runInSlices(this.#refreshInSteps(), isClosed);
    }
  }

  *#refreshInSteps(): Generator<void> {
    const places = this.#roots?.places() ?? { roots: [], resolved: new Map() };
    const before = this.#evidence.roots;
    // As they are now: what is to be in force while this goes on has a turn of its own.
    const [policy, generation, limiting] = [this.#policy, this.#generation, this.#limiting];
    const evidence = yield* gatherInSteps(policy, places);
    const limit = limiting === null ? {} : { limit: yield* gatherInSteps(limiting, places) };
    const { state: policyState } = this.#options.layers;
    const catalogue = this.catalogue;
    this.#evidence = evidence;
    yield* this.#reportRoots(before);
    yield* this.#sessions.refreshInSteps({ evidence, generation, policyState, catalogue, ...limit });
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
  async #request(session: AttachedSession, root: string): Promise<void> {
    await this.consent.request(session, root);
    await this.#refresh();
  }

  #acknowledged(session: AttachedSession, ack: Ack): void {
    if (this.#sessions.acknowledge(session, ack)) this.#acknowledgements.receive(session);
  }

  /** A server that is told otherwise than by roots is given its list when it starts. */
  #reported(session: AttachedSession, report: SessionReport): void {
    this.#sessions.reported(session, report);
    const { askedForRoots, channels } = report;
    if (askedForRoots === true || channels.some((kind) => kind !== 'roots')) this.consent.listed(session);
  }

  #detach(session: AttachedSession): void {
    this.#acknowledgements.forget(session);
    this.#sessions.closed(session);
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

  /** What became of each root on the disk: someone may have to act on one that is gone. */
  *#reportRoots(before: readonly RootFacts[]): Generator<void> {
    const known = new Map(before.map((root) => [root.name, root]));
    for (const { name, written, place, available, unavailable } of this.#evidence.roots) {
      const was = known.get(name);
      if (was?.available === available && was.place?.identity === place?.identity) continue;
      const fields = { root: name, path: place?.path ?? patternPath(written), available, why: unavailable };
      this.#options.log(available ? 'info' : 'warn', LOG_EVENTS.rootChanged, fields);
      yield;
    }
  }

  #reportMounts(changes: readonly MountChange[]): void {
    for (const { point, before, after } of changes) {
      const { type, isReadOnly } = after ?? before ?? {};
      this.#options.log('info', LOG_EVENTS.mountChanged, { path: point, mounted: after !== null, type, isReadOnly });
    }
  }

  /** What became of each layer that is not as it was. */
  #report({ moved, generation }: ReloadOutcome): void {
    this.#retry();
    if (moved.length > 0) this.#options.onChange?.();
    for (const status of moved) {
      const { layer, condition, problems } = status;
      const fields = { layer, condition, generation, files: filesOf(status), problems: problems.map(brief) };
      if (condition === 'active' || condition === 'empty') this.#options.log('info', LOG_EVENTS.activated, fields);
      else if (condition === 'lockdown') this.#options.log('error', LOG_EVENTS.lockdown, fields);
      else this.#options.log('warn', LOG_EVENTS.rejected, fields);
    }
  }
}

function layerReply(status: LayerStatus): StatusReply['layers'][number] {
  const { layer, condition, directory, since } = status;
  return { layer, state: condition, directory, files: filesOf(status), since: new Date(since).toISOString() };
}

function filesOf({ inForce }: LayerStatus): readonly string[] {
  return inForce?.files.map(({ path }) => path) ?? [];
}

function brief({ code, file, line, column, message }: Problem): string {
  return `${file}:${line}:${column}: ${message} [${code}]`;
}
