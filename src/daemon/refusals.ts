import { keyText } from '../core/consent.ts';
import { MAX_REFUSALS, REMEMBERED_COUNT, type Refusal } from '../core/consent-record.ts';

/** Who refuses, and why, for a person. */
export interface Refused {
  readonly access: Refusal['access'];
  readonly why: string;
}

/** What people have said no to: once, which holds for the sessions that asked; or more often, which holds for all. */
export class Refusals {
  /** By key; the latest last. */
  readonly #all: Map<string, Refusal>;
  readonly #ofSessions = new Map<string, Set<string>>();

  constructor(kept: readonly Refusal[]) {
    this.#all = new Map(kept.map((refusal) => [keyText(refusal.key), refusal]));
  }

  get all(): readonly Refusal[] {
    return [...this.#all.values()];
  }

  /** Somebody has said no once more. Of too many the oldest is forgotten. */
  add(refusal: Omit<Refusal, 'count'>, sessions: readonly string[]): void {
    const text = keyText(refusal.key);
    for (const session of sessions) {
      this.#ofSessions.set(session, (this.#ofSessions.get(session) ?? new Set()).add(text));
    }
    const count = (this.#all.get(text)?.count ?? 0) + 1;
    this.#all.delete(text);
    this.#all.set(text, { ...refusal, count });
    const [oldest] = this.#all.keys();
    if (this.#all.size > MAX_REFUSALS && oldest !== undefined) this.#all.delete(oldest);
  }

  /** Is what has this key's text refused to a session? null as the session: to any. */
  of(text: string, session: string | null): Refused | null {
    const refusal = this.#all.get(text);
    if (refusal === undefined) return null;
    const { access, count } = refusal;
    if (count >= REMEMBERED_COUNT) {
      return { access, why: 'somebody has refused it more than once; "rootsd consent reset" lets it be asked again' };
    }
    const isOfSession = session !== null && this.#ofSessions.get(session)?.has(text) === true;
    return isOfSession ? { access, why: 'somebody has refused it' } : null;
  }

  /** Who has said yes after all takes back what was refused. */
  forgive(text: string): void {
    this.#all.delete(text);
    for (const refused of this.#ofSessions.values()) refused.delete(text);
  }

  /** Returns what is forgotten. */
  forgetAll(): readonly Refusal[] {
    const all = this.all;
    this.#all.clear();
    this.#ofSessions.clear();
    return all;
  }

  sessionClosed(session: string): void {
    this.#ofSessions.delete(session);
  }
}
