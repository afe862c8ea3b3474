// Completion for a field that a person types in: a moment's rest before anybody is asked, one question for each field, and
// answers that are known are given again.

import { realTimer, type Timer, unrefTimer } from '../client/timer.ts';
import { isObject, type SdkClient } from './sdk.ts';

const DEBOUNCE_MS = 150;
const KEEP_MS = 10_000;
const DEADLINE_MS = 5_000;
const MAX_KEPT = 200;

export interface CompleterOptions {
  /** How long nobody types before the server is asked. */
  readonly debounceMs?: number;
  /** How long an answer is given again. */
  readonly keepMs?: number;
  /** How long the server has to answer. */
  readonly deadlineMs?: number;
  readonly timer?: Timer;
}

/** The parameters of `completion/complete`. */
export interface CompletionRequest {
  readonly ref:
    | { readonly type: 'ref/prompt'; readonly name: string }
    | { readonly type: 'ref/resource'; readonly uri: string };
  readonly argument: { readonly name: string; readonly value: string };
  /** Arguments that have their values already. */
  readonly context?: { readonly arguments?: Readonly<Record<string, string>> };
}

export interface Completion {
  readonly values: readonly string[];
  /** How many there are; undefined: the server does not say. */
  readonly total: number | undefined;
  readonly hasMore: boolean;
}

const NONE: Completion = { values: [], total: 0, hasMore: false };

/** The question of one field: waiting for a rest, or asked. */
interface Running {
  readonly key: string;
  readonly answer: Promise<Completion | null>;
  readonly stop: () => void;
}

/** Make one with LiveRoots.completer(). */
export class Completer {
  readonly #client: SdkClient;
  readonly #options: CompleterOptions;
  readonly #running = new Map<string, Running>();
  /** The oldest first. */
  readonly #kept = new Map<string, Completion>();
  /** An answer of an earlier one is not kept. */
  #epoch = 0;

  constructor(client: SdkClient, options: CompleterOptions) {
    this.#client = client;
    this.#options = options;
  }

  /**
   * Values for an argument. null: another value of the same field was asked for meanwhile, and the server was told to forget
   * this one. No values where the server completes nothing. Rejects where it answers with an error or not in time.
   */
  async complete(request: CompletionRequest): Promise<Completion | null> {
    if (this.#client.getServerCapabilities()?.completions === undefined) return NONE;
    const { ref, argument, context } = request;
    const field = JSON.stringify([ref, argument.name]);
    const key = JSON.stringify([ref, argument, context]);
    const running = this.#running.get(field);
    if (running?.key === key) return running.answer;
    running?.stop();
    const kept = this.#kept.get(key);
    return kept ?? this.#start(request, field, key);
  }

  /** Forgets all answers, also those that are on their way: the files behind them are others now. */
  clear(): void {
    this.#epoch += 1;
    this.#kept.clear();
  }

  #start(request: CompletionRequest, field: string, key: string): Promise<Completion | null> {
    const { timer = realTimer, debounceMs = DEBOUNCE_MS } = this.#options;
    const overtaken = new AbortController();
    const answer = new Promise<Completion | null>((resolve, reject) => {
      const cancelRest = timer(debounceMs, () => this.#ask(request, key, overtaken.signal).then(resolve, reject));
      overtaken.signal.addEventListener('abort', () => {
        cancelRest();
        resolve(null);
      });
    }).finally(() => {
      if (this.#running.get(field)?.answer === answer) this.#running.delete(field);
    });
    this.#running.set(field, { key, answer, stop: () => overtaken.abort() });
    return answer;
  }

  async #ask(request: CompletionRequest, key: string, signal: AbortSignal): Promise<Completion> {
    const epoch = this.#epoch;
    const { deadlineMs = DEADLINE_MS } = this.#options;
    const complete = this.#client.complete as (params: object, options: object) => Promise<unknown>;
    const result = await complete.call(this.#client, request, { signal, timeout: deadlineMs });
    const completion = readCompletion(result);
    if (epoch === this.#epoch) this.#keep(key, completion);
    return completion;
  }

  #keep(key: string, completion: Completion): void {
    const { timer = unrefTimer, keepMs = KEEP_MS } = this.#options;
    this.#kept.set(key, completion);
    timer(keepMs, () => {
      if (this.#kept.get(key) === completion) this.#kept.delete(key);
    });
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MAX_KEPT) break;
      this.#kept.delete(oldest);
    }
  }
}

/** Servers leave out what they do not know. */
function readCompletion(result: unknown): Completion {
  const { values, total, hasMore } = isObject(result) && isObject(result.completion) ? result.completion : {};
  return {
    values: Array.isArray(values) ? values.filter((value) => typeof value === 'string') : [],
    total: typeof total === 'number' ? total : undefined,
    hasMore: hasMore === true,
  };
}
