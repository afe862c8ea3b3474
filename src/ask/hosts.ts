// The host of a session that asks, through its `rootsd run`: a person is asked in the program they work with.
//
// INVARIANT: a host is told, and can answer, what its own session asks and nothing else.

import { RootsError } from '../core/errors.ts';
import type { HostAnswer, HostQuestion } from '../core/protocol.ts';
import type { AskChannel, Given, Question, TakeAnswer } from '../core/question.ts';
import { questionText } from './question-text.ts';

/** A host that can be asked. */
export interface AskedHost {
  /** Of its session. */
  readonly id: string;
  readonly uid: number;
  /** All that it may answer from now on. */
  tell(questions: readonly HostQuestion[]): void;
  /** Why what comes from there is not a person's word; null: nothing speaks against it. */
  whyNoPerson(): string | null;
}

interface Presented {
  readonly wire: HostQuestion;
  readonly take: TakeAnswer;
  readonly hidden: () => void;
  /** The sessions that ask … */
  askers: ReadonlySet<string>;
  /** … and those whose host has left it to others. */
  readonly passed: Set<string>;
}

export class Hosts implements AskChannel {
  readonly name = 'host';
  readonly #hosts = new Map<string, AskedHost>();
  /** By the id of the question, the oldest first. */
  readonly #presented = new Map<string, Presented>();

  /** Whoever works with a host is no administrator, whatever their uid. */
  present(question: Question, take: TakeAnswer, hidden: () => void): void {
    if (question.approver === 'admin') return;
    const { id, scopes, until } = question;
    const wire = { id, text: questionText(question), scopes, until };
    this.#presented.set(id, { wire, take, hidden, askers: new Set(), passed: new Set() });
  }

  askedBy({ id }: Question, sessions: ReadonlySet<string>): void {
    const presented = this.#presented.get(id);
    if (presented === undefined) return;
    const before = presented.askers;
    presented.askers = sessions;
    this.#tell([...before].filter((session) => !sessions.has(session)));
    this.#tell([...sessions].filter((session) => !before.has(session)));
    this.#hideUnseen(presented);
  }

  shows({ id }: Question): boolean {
    const presented = this.#presented.get(id);
    return presented !== undefined && this.#isSeen(presented);
  }

  withdraw({ id }: Question): void {
    const presented = this.#presented.get(id);
    this.#presented.delete(id);
    if (presented !== undefined) this.#tell(presented.askers);
  }

  /** It can be asked from now on, and is told what is open. */
  join(host: AskedHost): void {
    if (this.#hosts.has(host.id)) return;
    this.#hosts.set(host.id, host);
    if (this.#of(host.id).length > 0) this.#tell([host.id]);
  }

  /** It cannot be asked any more; what it was told it forgets. */
  leave(session: string): void {
    if (!this.#hosts.delete(session)) return;
    for (const presented of this.#presented.values()) {
      if (presented.askers.has(session)) this.#hideUnseen(presented);
    }
  }

  /**
   * A host has answered. Resolves with what that gives; rejects with a RootsError where it does not count: CONSENT_UNKNOWN
   * for what this very session was not told, CONSENT_NEEDS_TERMINAL where an MCP server may be what answers.
   */
  async answer(session: string, { id, says, scope }: HostAnswer): Promise<Given | null> {
    const host = this.#hosts.get(session);
    const presented = this.#presented.get(id);
    if (host === undefined || presented === undefined || !isShown(presented, session)) {
      throw new RootsError('CONSENT_UNKNOWN', { what: `question "${id.slice(0, 40)}"` });
    }
    if (says !== 'pass') {
      const why = host.whyNoPerson();
      if (why !== null) throw new RootsError('CONSENT_NEEDS_TERMINAL', { what: why });
      return presented.take(says === 'no' ? { says } : { says, ...(scope === undefined ? {} : { scope }) }, host.uid);
    }
    presented.passed.add(session);
    this.#tell([session]);
    this.#hideUnseen(presented);
    return null;
  }

  #isSeen(presented: Presented): boolean {
    return [...presented.askers].some((session) => this.#hosts.has(session) && isShown(presented, session));
  }

  #hideUnseen(presented: Presented): void {
    if (!this.#isSeen(presented)) presented.hidden();
  }

  #tell(sessions: Iterable<string>): void {
    for (const session of sessions) this.#hosts.get(session)?.tell(this.#of(session));
  }

  #of(session: string): readonly HostQuestion[] {
    return [...this.#presented.values()].filter((one) => isShown(one, session)).map(({ wire }) => wire);
  }
}

function isShown({ askers, passed }: Presented, session: string): boolean {
  return askers.has(session) && !passed.has(session);
}
