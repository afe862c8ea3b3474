// Asking people: what sessions may be given becomes questions, answers become grants, and whoever is concerned is decided
// about anew.

import { randomBytes, randomInt } from 'node:crypto';
import type { Agents } from '../ask/agents.ts';
import { CommandLine } from '../ask/command-line.ts';
import type { Hosts } from '../ask/hosts.ts';
import { endsWithSession } from '../core/consent.ts';
import { RootsError } from '../core/errors.ts';
import type { HostAnswer } from '../core/protocol.ts';
import type { AskChannel, Given } from '../core/question.ts';
import type { Clock } from '../disk/clock.ts';
import type { ReadMoment } from '../disk/moment.ts';
import { writeToTerminalOf } from '../disk/write-terminal.ts';
import type { AttachedSession } from '../socket/authority.ts';
import type { ConsentStore } from '../state/consents.ts';
import type { Log } from '../system/log.ts';
import type { AnsweredQuestion } from './consent-journal.ts';
import { Grants } from './grants.ts';
import { LastingClock } from './lasting-clock.ts';
import type { Part } from './open-parts.ts';
import { isStartedByServer, type Launchers, terminalSession, whyNoPersonAtHost } from './person-behind.ts';
import { Questions, type Wanted } from './questions.ts';
import { TerminalCodes } from './terminal-codes.ts';

export interface ConsentOptions {
  readonly store: ConsentStore;
  readonly readMoment: ReadMoment;
  readonly clock: Clock;
  /** How long a question is open. */
  readonly timeoutMs: number;
  /** Those at terminals; null: rootsd.yaml wants none. */
  readonly agents: Agents | null;
  /** Those of sessions behind `rootsd run`; null: rootsd.yaml wants none. */
  readonly hosts: Hosts | null;
  /** Beside the command line, the agents and the hosts. */
  readonly channels: readonly AskChannel[];
  readonly record: Log;
  /** What was given or refused has changed: decide anew. */
  readonly onChange: () => void;
  /** Something is given or refused to these sessions alone. */
  readonly onOwn: (sessions: ReadonlySet<string>) => void;
  /** What a person could give to a session. */
  readonly wantedOf: (session: AttachedSession) => readonly Wanted[];
  readonly launchers: () => Launchers;
}

const CODE_DIGITS = 6;
const MAX_CODE = 10 ** CODE_DIGITS;

export class Consent implements Part {
  readonly grants: Grants;
  readonly questions: Questions;
  readonly time: LastingClock;
  readonly terminalCodes: TerminalCodes;
  readonly commandLine = new CommandLine();
  readonly #options: ConsentOptions;
  /** Those that have asked for their list: the others are asked nothing for. */
  readonly #listed = new Set<AttachedSession>();
  /** Calls of MCP clients that have asked. */
  #calls = 0;

  constructor(options: ConsentOptions) {
    this.#options = options;
    const { store, clock, record, timeoutMs, onChange } = options;
    const newId = () => randomBytes(4).toString('hex');
    this.time = new LastingClock(options.readMoment, store.kept?.lasting ?? null);
    this.grants = new Grants({ store, time: this.time, clock, record, newId, onChange });
    this.terminalCodes = new TerminalCodes({
      clock,
      newCode: () => String(randomInt(MAX_CODE)).padStart(CODE_DIGITS, '0'),
      sessionOf: terminalSession,
      write: writeToTerminalOf,
    });
    const { agents, hosts } = options;
    const told = [agents, hosts].filter((channel) => channel !== null);
    const channels = [this.commandLine, ...told, ...options.channels];
    const onAnswer = (answered: AnsweredQuestion, given: Given | null) => this.#answered(answered, given);
    this.questions = new Questions({ channels, timeoutMs, clock, newId, record, onAnswer, onLate: onChange });
  }

  get agents(): Agents | null {
    return this.#options.agents;
  }

  /** ms since the epoch */
  now(): number {
    return this.time.now().moment.wallMs;
  }

  /** A session has asked for its list. */
  listed(session: AttachedSession): void {
    this.#listed.add(session);
    this.questions.update(session.id, this.#options.wantedOf(session));
  }

  /** A session asks for one root until it gives up; resolves when a person has decided, or nobody is asked any more. */
  async request(session: AttachedSession, root: string, givenUp: AbortSignal): Promise<void> {
    if (givenUp.aborted) return;
    this.#calls += 1;
    const call = this.#calls;
    const wanted = this.#options.wantedOf(session).filter(({ asks }) => asks.root === root);
    const closings = wanted.map((one) => this.questions.raise(session.id, one, call)?.closed.reached);
    const ended = new Promise<void>((resolve) => {
      givenUp.addEventListener('abort', () => {
        this.questions.callEnded(session.id, call);
        resolve();
      });
    });
    await Promise.race([Promise.all(closings), ended]);
  }

  /**
   * A session behind `rootsd run` says whether a person can be asked through its host now. A `rootsd run` that another one
   * has started speaks for an MCP server, and is asked nothing.
   */
  elicits(session: AttachedSession, can: boolean): void {
    const { hosts, launchers } = this.#options;
    if (!can) hosts?.leave(session.id);
    const observed = can && hosts !== null ? session.observe() : null;
    const uid = observed?.user.uid;
    if (uid === undefined || isStartedByServer(observed, launchers())) return;
    hosts?.join({
      id: session.id,
      uid,
      tell: (questions) => session.ask(questions),
      whyNoPerson: () => whyNoPersonAtHost(session.observe(), launchers()),
    });
  }

  /** The host of a session has answered; what that gives. Rejects with a RootsError where it does not count. */
  async answered(session: AttachedSession, answer: HostAnswer): Promise<Given | null> {
    const { hosts } = this.#options;
    if (hosts === null) throw new RootsError('CONSENT_CHANNEL_OFF', { channel: 'host' });
    return hosts.answer(session.id, answer);
  }

  /** All was decided anew: what is asked may be something else. A session a step. */
  *refreshInSteps(): Generator<void> {
    for (const session of this.#listed) {
      this.questions.update(session.id, this.#options.wantedOf(session));
      yield;
    }
  }

  sessionClosed(session: AttachedSession): void {
    this.#listed.delete(session);
    this.#options.hosts?.leave(session.id);
    this.questions.sessionClosed(session.id);
    this.grants.sessionClosed(session.id);
  }

  close(): void {
    this.questions.close();
    this.grants.close();
  }

  async #answered(answered: AnsweredQuestion, given: Given | null): Promise<void> {
    if (given === null || endsWithSession(given.scope)) this.#options.onOwn(new Set(answered.sessions));
    if (given === null) await this.grants.refuse(answered);
    else await this.grants.give(answered, given);
  }
}
