// Completion for one session. Candidates come from the policy and the disk as that session may see them, and what is kept
// is kept for it alone.

import type { CompleteResult } from '@modelcontextprotocol/server';
import { offeredValues, visiblePrompts } from '../core/offered-prompts.ts';
import { readPathValue, splitTyped, toPathValue } from '../core/path-value.ts';
import type { Prompt, PromptArgument } from '../core/prompt.ts';
import { RPC } from '../core/protocol.ts';
import { type Ranked, rankInSteps } from '../core/rank.ts';
import type { Clock } from '../disk/clock.ts';
import { resultInSlices } from '../disk/slices.ts';
import type { EndpointSession } from './endpoint-session.ts';
import { type PathCandidate, pathCandidates, type Wanted } from './path-candidates.ts';
import { type CompleteParams, type Params, readCompleteParams } from './read-params.ts';
import { RequestRate } from './request-rate.ts';
import { invalidParams, RequestRefused } from './request-refused.ts';
import { PATH_VARIABLE, TEMPLATE_SPELLINGS } from './resources.ts';

export interface CompleterOptions {
  readonly session: EndpointSession;
  readonly clock: Clock;
}

/** How long an answer is given again without a look. */
const KEEP_MS = 2_000;
const MAX_KEPT = 100;
/** A longer question is not worth keeping. */
const MAX_KEY_LENGTH = 4_096;

interface Kept {
  readonly untilMs: number;
  readonly completion: Completion;
}

type Completion = CompleteResult['completion'];

const NONE: Ranked<string> = { best: [], total: 0 };

export class Completer {
  readonly #session: EndpointSession;
  readonly #clock: Clock;
  readonly #rate: RequestRate;
  #kept = new Map<string, Kept>();
  #isClosed = false;

  constructor({ session, clock }: CompleterOptions) {
    this.#session = session;
    this.#clock = clock;
    this.#rate = new RequestRate(clock);
  }

  /** Answers `completion/complete`. Throws RequestRefused. */
  async complete(params: Params): Promise<CompleteResult> {
    const over = this.#rate.take();
    if (over !== null) {
      const message = `Too many completions: at most 50 a second, in bursts of 100; go on in ${over.waitMs} ms`;
      throw new RequestRefused(RPC.invalidRequest, message, { retryAfterMs: over.waitMs });
    }
    const asked = readCompleteParams(params);
    const key = keyOf(asked);
    const known = this.#kept.get(key);
    if (known !== undefined && known.untilMs > this.#clock.now()) return { completion: known.completion };
    // What is dropped while the disk is asked is not kept again.
    const kept = this.#kept;
    const completion = toCompletion(await this.#ranked(asked));
    this.#keep(kept, key, completion);
    return { completion };
  }

  /** Policy or disk have changed: what is kept may be true no more. */
  forget(): void {
    this.#kept = new Map();
  }

  close(): void {
    this.#isClosed = true;
    this.forget();
  }

  #keep(kept: Map<string, Kept>, key: string, completion: Completion): void {
    if (key.length > MAX_KEY_LENGTH) return;
    if (kept.size >= MAX_KEPT) {
      const [oldest] = kept.keys();
      if (oldest !== undefined) kept.delete(oldest);
    }
    kept.delete(key);
    kept.set(key, { untilMs: this.#clock.now() + KEEP_MS, completion });
  }

  #ranked({ ref, argument, chosen }: CompleteParams): Promise<Ranked<string>> | Ranked<string> {
    if (ref.kind === 'resource') {
      if (!TEMPLATE_SPELLINGS.includes(ref.uri)) throw invalidParams(`there is no template "${ref.uri}"`);
      if (argument.name !== PATH_VARIABLE) throw invalidParams(`the template has no variable "${argument.name}"`);
      const typed = readPathValue(argument.value);
      if (typed === null) return NONE;
      return this.#rankedPaths(typed, { what: 'any' }, ({ path, kind }) => toPathValue(path, kind));
    }
    const { policy, peer } = this.#policy();
    const prompt = visiblePrompts(policy, peer).find(({ name }) => name === ref.name);
    if (prompt === undefined) throw invalidParams(`there is no prompt "${ref.name}"`);
    const declared = prompt.arguments.find(({ name }) => name === argument.name);
    if (declared === undefined) throw invalidParams(`prompt "${prompt.name}" has no argument "${argument.name}"`);
    return this.#rankedFor(prompt, declared, { typed: argument.value, chosen });
  }

  #rankedFor(
    prompt: Prompt,
    declared: PromptArgument,
    { typed, chosen }: { readonly typed: string; readonly chosen: CompleteParams['chosen'] },
  ): Promise<Ranked<string>> | Ranked<string> {
    const { source } = declared;
    if (source.kind === 'roots') {
      const names = this.#session.sight().view.told.map(({ root }) => root);
      return this.#inSlices(typed, names, (name) => name);
    }
    if (source.kind === 'paths') {
      const { what, glob } = source;
      const within = source.within === undefined ? undefined : this.#rootNamed(chosen.get(source.within));
      if (within === null) return NONE;
      const wanted: Wanted = {
        what,
        ...(glob === undefined ? {} : { glob }),
        ...(within === undefined ? {} : { within }),
      };
      const start = typed.startsWith('/') ? '' : `${within === undefined || within.path === '/' ? '' : within.path}/`;
      const path = splitTyped(`${start}${typed}`);
      return path === null ? NONE : this.#rankedPaths(path, wanted, plainValue);
    }
    const values = offeredValues(prompt, declared, { ...this.#policy(), chosen }) ?? [];
    return this.#inSlices(typed, values, (value) => value);
  }

  /** undefined: none is chosen; null: there is no such root. */
  #rootNamed(name: string | undefined) {
    if (name === undefined) return undefined;
    return this.#session.sight().view.told.find(({ root }) => root === name) ?? null;
  }

  async #rankedPaths(
    typed: NonNullable<ReturnType<typeof splitTyped>>,
    wanted: Wanted,
    toValue: (candidate: PathCandidate) => string,
  ): Promise<Ranked<string>> {
    const { query, candidates } = await pathCandidates(this.#session, typed, wanted);
    const { best, total } = await this.#inSlices(query, candidates, ({ text }) => text);
    return { best: best.map(toValue), total };
  }

  async #inSlices<T>(query: string, candidates: Iterable<T>, textOf: (candidate: T) => string): Promise<Ranked<T>> {
    const ranked = await resultInSlices(rankInSteps(query, candidates, textOf), () => this.#isClosed);
    return ranked?.value ?? { best: [], total: 0 };
  }

  #policy() {
    const { evidence, peer } = this.#session.sight();
    return { policy: evidence.policy, peer };
  }
}

/** As a model can name it in a call: absolute, a directory with a last slash. */
function plainValue({ path, kind }: PathCandidate): string {
  return kind === 'file' || path === '/' ? path : `${path}/`;
}

function toCompletion({ best, total }: Ranked<string>): Completion {
  return { values: [...best], total, hasMore: total > best.length };
}

function keyOf({ ref, argument, chosen }: CompleteParams): string {
  return JSON.stringify([ref, argument, [...chosen].sort()]);
}
