// `rootsd consent agent`: programs at terminals that are told each question as it comes. All show it; the first answer counts.
// One that is there only for want of another (`--fallback`) shows what is asked while there is no other.

import { RootsError } from '../core/errors.ts';
import type { Question, TakeAnswer } from '../core/question.ts';
import { AnsweredById } from './answered-by-id.ts';

/** Who is told. */
export interface Agent {
  readonly uid: number;
  readonly isFallback: boolean;
  asked(question: Question): void;
  withdrawn(question: Question, why: string): void;
}

/** A person has some terminals, not hundreds. */
const MAX_AGENTS = 16;
const ADMIN_UID = 0;

export class Agents extends AnsweredById {
  readonly name = 'agent';
  readonly #agents = new Set<Agent>();

  override present(question: Question, take: TakeAnswer, hidden: () => void): void {
    super.present(question, take, hidden);
    for (const agent of this.#inCharge()) tell(agent, [question]);
  }

  override shows(question: Question): boolean {
    return this.#inCharge().some((agent) => mayAnswer(agent, question));
  }

  override withdraw(question: Question, why: string): void {
    super.withdraw(question, why);
    for (const agent of this.#inCharge()) agent.withdrawn(question, why);
  }

  /** It is told what is open, and from then on each change. Throws a RootsError CONTROL_FULL. */
  join(agent: Agent): void {
    if (this.#agents.size >= MAX_AGENTS) throw new RootsError('CONTROL_FULL', { limit: MAX_AGENTS });
    const before = this.#inCharge();
    this.#agents.add(agent);
    const now = this.#inCharge();
    for (const other of before) {
      if (now.includes(other)) continue;
      for (const question of this.open) other.withdrawn(question, 'another agent asks now');
    }
    if (now.includes(agent)) tell(agent, this.open);
    this.hide(this.open);
  }

  leave(agent: Agent): void {
    const before = this.#inCharge();
    this.#agents.delete(agent);
    for (const other of this.#inCharge()) if (!before.includes(other)) tell(other, this.open);
    this.hide(this.open);
  }

  /** Those that show questions now. */
  #inCharge(): readonly Agent[] {
    const all = [...this.#agents];
    const first = all.filter(({ isFallback }) => !isFallback);
    return first.length > 0 ? first : all;
  }
}

/** Whoever may not answer a question is not bothered with it. */
function tell(agent: Agent, questions: readonly Question[]): void {
  for (const question of questions) if (mayAnswer(agent, question)) agent.asked(question);
}

function mayAnswer({ uid }: Agent, { approver }: Question): boolean {
  return approver === 'user' || uid === ADMIN_UID;
}
