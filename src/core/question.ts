// What a person is asked, and what an answer to it may say.

import type { Access } from './access.ts';
import { type ConsentKey, parseScope } from './consent.ts';
import type { RuleRef } from './decision.ts';
import { RootsError } from './errors.ts';
import type { PeerClass } from './peer.ts';

/** Who asks, for people. Names are claims. */
export interface Asker {
  readonly server: string | null;
  readonly class: PeerClass;
  readonly host: string | null;
  /** Login name, or `uid:N`. */
  readonly user: string;
}

export interface Question {
  readonly id: string;
  readonly key: ConsentKey;
  readonly asker: Asker;
  readonly root: string;
  /** As the policy writes it; the key has the real one. */
  readonly written: string;
  /** What is asked for. */
  readonly access: Access;
  readonly rule: RuleRef;
  readonly reason: string | null;
  /** The one that ends first comes first. */
  readonly scopes: readonly string[];
  readonly approver: 'user' | 'admin';
  /** RFC 3339 */
  readonly since: string;
  /** After that it is closed. */
  readonly until: string;
}

export interface Answer {
  readonly says: 'yes' | 'no';
  /** Of a yes; the scope that ends first where omitted. */
  readonly scope?: string;
  /** Of a yes: less than what is asked for. */
  readonly access?: Access;
  readonly note?: string;
}

/** A yes, with all that it means. */
export interface Given {
  readonly scope: string;
  readonly access: Access;
}

/** Who answers. */
export interface Answerer {
  /** `command`, `agent`, `desktop` … */
  readonly channel: string;
  readonly uid: number;
}

/** `uid`: of who answers. */
export type TakeAnswer = (answer: Answer, uid: number) => Promise<Given | null>;

/** A way to reach a person. Several may show one question: the first valid answer counts, the others are withdrawn. */
export interface AskChannel {
  /** As an answer names it. */
  readonly name: string;
  /**
   * Shows a question. `take` takes an answer and resolves with what it gives (null: nothing); what it rejects with says why
   * the answer does not count, and the question stays open then unless it is CONSENT_UNKNOWN. `hidden`: nobody sees it here
   * any more, though it is open.
   */
  present(question: Question, take: TakeAnswer, hidden: () => void): void;
  /** Who asks this now, by the ids of sessions: after present(), and whenever it is somebody else. */
  askedBy?(question: Question, sessions: ReadonlySet<string>): void;
  /** Does somebody see it here, or will when its turn comes? */
  shows(question: Question): boolean;
  /** It is open no more; `why`: it is answered, or nobody asks any more. */
  withdraw(question: Question, why: string): void;
}

const MAX_NOTE_CHARACTERS = 500;
const ADMIN_UID = 0;

/** Scopes in the order in which they end. */
export function byLength(scopes: readonly string[]): readonly string[] {
  const rank = (text: string): number => {
    const scope = parseScope(text);
    if (scope === null || scope.kind === 'always') return Number.POSITIVE_INFINITY;
    return scope.kind === 'time' ? scope.ms : scope.kind === 'session' ? 0 : -1;
  };
  return [...scopes].sort((a, b) => Math.sign(rank(a) - rank(b)) || 0);
}

/**
 * What an answer gives; null: nothing. Throws a RootsError where it does not count: CONSENT_ADMIN_ONLY for who may not give
 * it, CONSENT_ANSWER for more than was asked.
 */
export function readAnswer(question: Question, answer: Answer, { uid }: Answerer): Given | null {
  if (question.approver === 'admin' && uid !== ADMIN_UID) {
    throw new RootsError('CONSENT_ADMIN_ONLY', { rule: question.rule.id });
  }
  if ((answer.note ?? '').length > MAX_NOTE_CHARACTERS) {
    throw new RootsError('CONSENT_ANSWER', { what: `a note has at most ${MAX_NOTE_CHARACTERS} characters` });
  }
  if (answer.says === 'no') return null;
  const { scope = question.scopes[0] ?? '', access = question.access } = answer;
  if (!question.scopes.includes(scope)) {
    const offered = question.scopes.map((one) => `"${one}"`).join(', ');
    throw new RootsError('CONSENT_ANSWER', {
      what: `the scope "${scope}" is not offered, it must be one of ${offered}`,
    });
  }
  if (access === 'read-write' && question.access === 'read-only') {
    throw new RootsError('CONSENT_ANSWER', { what: 'more than "read-only" is not asked for' });
  }
  return { scope, access };
}
