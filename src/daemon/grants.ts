// The consents that hold: what decisions ask, what answers change, what the clocks end. What outlives a session is written
// down before it counts; what is taken back stops counting before that is written down.

import { type Access, higherAccess } from '../core/access.ts';
import {
  type Answered,
  type Asked,
  type ConsentKey,
  type Consents,
  endsWithSession,
  identityFacts,
  keyText,
} from '../core/consent.ts';
import type { ConsentEntry, ConsentEvent, KeptConsents, Refusal } from '../core/consent-record.ts';
import { RootsError } from '../core/errors.ts';
import { type Grant, leftMs, type Now } from '../core/grant.ts';
import type { Peer } from '../core/peer.ts';
import type { Policy } from '../core/policy.ts';
import type { Answerer, Given, Question } from '../core/question.ts';
import type { Rule } from '../core/rule.ts';
import type { Clock } from '../disk/clock.ts';
import type { ConsentStore } from '../state/consents.ts';
import type { Log } from '../system/log.ts';
import { type AnsweredQuestion, ConsentJournal } from './consent-journal.ts';
import type { LastingClock } from './lasting-clock.ts';
import type { Part } from './open-parts.ts';
import { Refusals } from './refusals.ts';
import { RuleDigests } from './rule-digest.ts';

export interface GrantsOptions {
  readonly store: ConsentStore;
  readonly time: LastingClock;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly record: Log;
  /** What holds is not what it was: decide anew. */
  readonly onChange: () => void;
}

export interface Revoked {
  readonly grants: readonly Grant[];
  readonly isKept: boolean;
}

/** A timer stands still while the machine is suspended: as long as a grant may end on this day, it is looked so often. */
const SWEEP_MS = 1_000;
const DAY_MS = 24 * 3_600_000;

export class Grants implements Part {
  readonly #options: GrantsOptions;
  readonly #digests = new RuleDigests();
  /** Those that are being written down do not count yet. */
  readonly #unkept = new Set<string>();
  readonly #grants = new Map<string, Grant>();
  /** The same by key. */
  readonly #byKey = new Map<string, Set<Grant>>();
  /** What was given once, for calls: those of them that have not ended, by the id of the grant. */
  readonly #calls = new Map<string, Set<number>>();
  readonly #refusals: Refusals;
  readonly #journal: ConsentJournal;
  /** By lasting time: when it was last looked who uses what. */
  #lookedMs: number;
  #cancelSweep: (() => void) | null = null;

  constructor(options: GrantsOptions) {
    this.#options = options;
    const { store, time, record } = options;
    const { kept } = store;
    this.#lookedMs = time.now().lasting.ms;
    this.#refusals = new Refusals(kept?.refusals ?? []);
    this.#journal = new ConsentJournal({ history: kept?.history ?? [], record, now: () => time.now().moment.wallMs });
    for (const grant of kept?.grants ?? []) this.#add(grant);
    this.#planSweep();
  }

  /** All grants, also those whose rule is gone. */
  get all(): readonly Grant[] {
    return [...this.#grants.values()].filter(({ id }) => !this.#unkept.has(id));
  }

  get refusals(): readonly Refusal[] {
    return this.#refusals.all;
  }

  /** The oldest first. */
  get history(): readonly ConsentEntry[] {
    return this.#journal.history;
  }

  /** Of a grant: ms until it ends if nobody uses it; null: with its session. */
  leftMs(grant: Grant): number | null {
    return leftMs(grant, this.#now());
  }

  /** Was it given under exactly this rule? */
  isUnder({ key }: Grant, rule: Rule, policy: Policy): boolean {
    return key.rule === rule.id && key.digest === this.#digests.of(rule, policy);
  }

  /** What decisions about a session go by; null: about any. */
  consentsOf(session: string | null): Consents {
    const now = this.#now();
    return { answerTo: (asked) => this.#answerTo(asked, session, now) };
  }

  /**
   * What was given for longer than a session to servers of this name, whatever else that is bound to: for a person who asks
   * about a name. A peer that only says its name is given what was given to such peers alone.
   */
  consentsNamed({ claimed, fulfils }: Peer): Consents {
    const now = this.#now();
    const named = [...this.#grants.values()].filter(
      ({ asker, session }) =>
        session === null && asker.server === claimed.server && (fulfils?.server === true || asker.class === 'claimed'),
    );
    const byPlace = new Map<string, Grant[]>();
    for (const grant of named) {
      const text = keyText({ ...grant.key, facts: [] });
      byPlace.set(text, [...(byPlace.get(text) ?? []), grant]);
    }
    return {
      answerTo: (asked) => {
        const key = this.keyOf(asked);
        const given = key === null ? [] : (byPlace.get(keyText({ ...key, facts: [] })) ?? []);
        return answerOf(this.#holding(given, asked, { session: null, now }));
      },
    };
  }

  /** What an answer would be bound to; null for a peer whose user is not known. */
  keyOf({ peer, place, rule, policy }: Omit<Asked, 'scopes'>): ConsentKey | null {
    const uid = peer.observed?.user.uid;
    if (uid === undefined) return null;
    const digest = this.#digests.of(rule, policy);
    return { facts: identityFacts(peer), uid, path: place.path, identity: place.identity, rule: rule.id, digest };
  }

  /** Somebody has said yes. Rejects with a RootsError CONSENT_NOT_KEPT where that must be written down and cannot be. */
  async give(answered: AnsweredQuestion, given: Given): Promise<readonly Grant[]> {
    const { question, sessions, calls } = answered;
    const bound = endsWithSession(given.scope) ? sessions : [null];
    const grants = bound.map((session) => this.#newGrant(question, given, session));
    for (const grant of grants) {
      this.#unkept.add(grant.id);
      this.#add(grant);
      const waiting = given.scope === 'once' ? calls.get(grant.session ?? '') : undefined;
      if (waiting !== undefined) this.#calls.set(grant.id, new Set(waiting));
      this.#journal.note('approved', grant, { ...answered, id: grant.id, scope: given.scope, access: given.access });
    }
    const isKept = await this.#save();
    for (const { id } of grants) this.#unkept.delete(id);
    if (!isKept && !endsWithSession(given.scope)) {
      for (const grant of grants) this.#remove(grant);
      this.#journal.strike(grants);
      void this.#save();
      throw new RootsError('CONSENT_NOT_KEPT');
    }
    this.#refusals.forgive(keyText(question.key));
    this.#journal.answered('approved', answered, given);
    this.#changed();
    return grants;
  }

  /** Somebody has said no: these sessions are refused, and from the second time on everybody is. */
  async refuse(answered: AnsweredQuestion): Promise<void> {
    const { question, sessions } = answered;
    const { key, asker, root, access, id } = question;
    this.#refusals.add({ key, asker, root, access, since: this.#journal.wallTime() }, sessions);
    this.#journal.note('denied', question, { ...answered, id, scope: null, access });
    this.#journal.answered('denied', answered, null);
    this.#changed();
    await this.#save();
  }

  /**
   * Takes grants back, at once, those too that are just being written down. `isKept`: the next start knows of it; if not,
   * that is tried again.
   */
  async revoke(isMeant: (grant: Grant) => boolean, answerer: Answerer): Promise<Revoked> {
    const grants = [...this.#grants.values()].filter(isMeant);
    this.#end(grants, 'revoked', answerer);
    // One of a session is in no file that could bring it back.
    const isNarrower = grants.some(({ session }) => session === null);
    const isSaved = grants.length === 0 || (await this.#save({ isNarrower }));
    await this.#journal.written();
    return { grants, isKept: isSaved || !isNarrower };
  }

  /** Forgets what was refused: it is asked again. Returns what that was. */
  async reset(answerer: Answerer): Promise<readonly Refusal[]> {
    const refusals = this.#refusals.forgetAll();
    for (const refusal of refusals) {
      this.#journal.note('reset', refusal, { answerer, id: '', scope: null, access: refusal.access });
    }
    this.#changed();
    if (refusals.length > 0) await this.#save();
    return refusals;
  }

  /** What was given or refused to this session alone ends with it. */
  sessionClosed(session: string): void {
    this.#refusals.sessionClosed(session);
    const grants = [...this.#grants.values()].filter((grant) => grant.session === session);
    if (grants.length > 0) this.#end(grants, 'ended', null);
  }

  /** A call of a session has ended: what was given once for it, and for no other that goes on, ends with it. */
  callEnded(session: string, call: number): void {
    const over = [...this.#calls].flatMap(([id, calls]) => {
      const grant = this.#grants.get(id);
      return grant?.session === session && calls.delete(call) && calls.size === 0 ? [grant] : [];
    });
    this.#end(over, 'ended', null);
  }

  /** Writes down when it is. */
  keepTime(): void {
    void this.#save();
  }

  close(): void {
    this.#cancelSweep?.();
    this.#journal.close();
  }

  #answerTo(asked: Asked, session: string | null, now: Now): Answered | null {
    const key = this.keyOf(asked);
    if (key === null) return null;
    const text = keyText(key);
    const holding = this.#holding([...(this.#byKey.get(text) ?? [])], asked, { session, now });
    const refusal = this.#refusals.of(text, session);
    const answered = answerOf(holding);
    if (answered === null) return refusal === null ? null : { state: 'refused', why: refusal.why };
    for (const grant of holding) this.#used(grant, now);
    return { ...answered, asked: higherAccess(answered.asked, refusal?.access ?? null) ?? answered.asked };
  }

  #holding(
    grants: readonly Grant[],
    { scopes }: Asked,
    { session, now }: { readonly session: string | null; readonly now: Now },
  ): readonly Grant[] {
    return grants.filter((grant) => this.#counts(grant, session, now) && scopes.includes(grant.scope));
  }

  #counts(grant: Grant, session: string | null, now: Now): boolean {
    if (this.#unkept.has(grant.id) || (grant.session !== null && grant.session !== session)) return false;
    const left = leftMs(grant, now);
    return left === null || left > 0;
  }

  #newGrant({ key, asker, root, access: asked }: Question, { scope, access }: Given, session: string | null): Grant {
    const { moment, lasting } = this.#now();
    const id = this.#unusedId();
    return { id, key, asker, root, access, asked, scope, session, given: moment, usedMs: lasting.ms };
  }

  /** Two grants of one id: nobody could see or take back the first. */
  #unusedId(): string {
    const id = this.#options.newId();
    return this.#grants.has(id) ? this.#unusedId() : id;
  }

  #add(grant: Grant): void {
    const text = keyText(grant.key);
    this.#grants.set(grant.id, grant);
    this.#byKey.set(text, (this.#byKey.get(text) ?? new Set()).add(grant));
  }

  #remove(grant: Grant): void {
    const text = keyText(grant.key);
    this.#grants.delete(grant.id);
    this.#calls.delete(grant.id);
    const rest = this.#byKey.get(text);
    rest?.delete(grant);
    if (rest?.size === 0) this.#byKey.delete(text);
  }

  /** A grant for always that is used does not grow old; that is written down once a day. The end of others is fixed. */
  #used(grant: Grant, { lasting }: Now): void {
    if (grant.scope !== 'always' || lasting.ms - grant.usedMs < DAY_MS) return;
    this.#remove(grant);
    this.#add({ ...grant, usedMs: lasting.ms });
    void this.#save();
  }

  #end(grants: readonly Grant[], event: ConsentEvent, answerer: Answerer | null): void {
    if (grants.length === 0) return;
    for (const grant of grants) this.#remove(grant);
    this.#journal.ended(grants, event, answerer);
    this.#changed();
  }

  /** Ends what has ended. */
  #sweep(): void {
    const now = this.#now();
    this.#lookDaily(now);
    const over = [...this.#grants.values()].filter((grant) => leftMs(grant, now) === 0);
    this.#end(over, 'ended', null);
    if (over.length > 0) void this.#save({ isNarrower: true });
    this.#planSweep();
  }

  /**
   * A session that goes on as it is asks nobody: once a day all is decided anew, so that it is seen which grants are used.
   * And the time is written down, so that no clock that is set back with the next boot makes one last longer.
   */
  #lookDaily({ lasting }: Now): void {
    if (lasting.ms - this.#lookedMs < DAY_MS) return;
    this.#lookedMs = lasting.ms;
    if (![...this.#grants.values()].some(({ scope }) => scope === 'always')) return;
    this.#options.onChange();
    void this.#save();
  }

  /** Looks again when the next one ends, or earlier. */
  #planSweep(): void {
    this.#cancelSweep?.();
    const now = this.#now();
    const left = [...this.#grants.values()].map((grant) => leftMs(grant, now)).filter((ms) => ms !== null);
    const next = left.reduce((least, ms) => Math.min(least, ms), Number.POSITIVE_INFINITY);
    if (left.length === 0) this.#cancelSweep = null;
    else
      this.#cancelSweep = this.#options.clock.after(next > DAY_MS ? DAY_MS : Math.min(next, SWEEP_MS), () =>
        this.#sweep(),
      );
  }

  #changed(): void {
    this.#options.onChange();
    this.#planSweep();
  }

  #now(): Now {
    return this.#options.time.now();
  }

  #save({ isNarrower = false } = {}): Promise<boolean> {
    const grants = [...this.#grants.values()].filter(({ session }) => session === null);
    const { lasting } = this.#now();
    const kept: KeptConsents = { lasting, grants, refusals: this.refusals, history: this.history };
    return this.#options.store.save(kept, { isNarrower });
  }
}

/** What grants give together; null: there is none. */
function answerOf(grants: readonly Grant[]): (Answered & { readonly state: 'granted' }) | null {
  const best = grants.find(({ access }) => access === 'read-write') ?? grants[0];
  if (best === undefined) return null;
  const asked = grants.map((grant) => grant.asked).reduce(higherAccess, null as Access | null) ?? best.asked;
  return { state: 'granted', access: best.access, asked, why: `somebody has agreed (grant ${best.id}, ${best.scope})` };
}
