// Questions to the person within the result of the call that waits for them: a host of the modern era cannot be asked otherwise. It
// makes the call again with the answers, under our state, which tells which call that is. No server sees either of them.

import { type HostQuestion, INPUT_REQUIRED } from '../core/protocol.ts';
import { ELICIT, elicitationOf } from './elicitation.ts';
import type { LineWriter } from './line-writer.ts';
import { type ModernRequest, paramOf } from './modern-request.ts';
import { OwnIds } from './own-requests.ts';
import type { Person } from './person.ts';

export class InsideQuestions {
  readonly #host: LineWriter;
  readonly #person: Person;
  readonly #states = new OwnIds();
  /** By state, a JSON text. */
  readonly #asked = new Map<string, readonly HostQuestion[]>();

  constructor(host: LineWriter, person: Person) {
    this.#host = host;
    this.#person = person;
  }

  /** Answers a call with these questions, as far as they can be asked now; the state, or null where none can. */
  ask(hostId: string, ids: readonly string[]): string | null {
    const questions = this.#person.askInside(ids);
    if (questions.length === 0) return null;
    const state = this.#states.next();
    const requests = questions.map((one) => `"${keyOf(one)}":{"method":"${ELICIT}","params":${elicitationOf(one)}}`);
    const result = `{"resultType":"${INPUT_REQUIRED}","inputRequests":{${requests.join(',')}},"requestState":${state}}`;
    this.#asked.set(state, questions);
    this.#host.insert(`{"jsonrpc":"2.0","id":${hostId},"result":${result}}`);
    return state;
  }

  /** The state of ours (a JSON text) with which a request comes; null: it comes with none. */
  stateOf(request: ModernRequest): string | null {
    const state = JSON.stringify(paramOf(request, 'requestState') ?? null);
    return this.#states.has(state) ? state : null;
  }

  /** Takes the answers out of a request that comes with a state of ours. What it lacks is left to others. */
  take(state: string, request: ModernRequest): void {
    const questions = this.#asked.get(state) ?? [];
    this.#asked.delete(state);
    const given = paramOf(request, 'inputResponses');
    const responses: ReadonlyMap<string, unknown> = new Map(
      typeof given === 'object' && given !== null ? Object.entries(given) : [],
    );
    for (const question of questions) this.#person.answeredInside(question, responses.get(keyOf(question)));
  }

  /** The host will not come again. */
  forget(state: string): void {
    this.#asked.delete(state);
  }
}

function keyOf({ id }: HostQuestion): string {
  return `rootsd-${id}`;
}
