// Rules of the policy that end: everybody is told when one has, also after a suspend or where the clock was set.

import { isOver, nextEndMs } from '../core/ending.ts';
import type { Evidence } from '../core/evidence.ts';
import type { Rule } from '../core/rule.ts';
import type { Clock } from '../disk/clock.ts';
import type { Part } from './open-parts.ts';

export interface EndingRulesOptions {
  readonly clock: Clock;
  /** ms since 1970; null: it cannot be known. */
  readonly knownMs: () => number | null;
  /** One more has ended, or has not after all: decide anew. */
  readonly onChange: () => void;
  /** Writes down when it is: a clock that is set back with the next boot must not make one last longer. */
  readonly keepTime: () => void;
}

/** A timer stands still while the machine is suspended: as long as one ends on this day, it is looked so often. */
const LOOK_MS = 1_000;
const KEEP_MS = 3_600_000;
const DAY_MS = 24 * 3_600_000;

export class EndingRules implements Part {
  readonly #options: EndingRulesOptions;
  #rules: readonly Rule[] = [];
  /** Of these, those that had ended when it was last decided. */
  #over = 0;
  #keptMs: number | null = null;
  #cancel: (() => void) | null = null;

  constructor(options: EndingRulesOptions) {
    this.#options = options;
  }

  /** By which time rules are judged. INVARIANT: where it cannot be known, all that end have ended. */
  nowMs(): number {
    return this.#options.knownMs() ?? Number.POSITIVE_INFINITY;
  }

  /** All is decided by this. */
  decided({ policy, nowMs }: Pick<Evidence, 'policy' | 'nowMs'>): void {
    this.#rules = policy.rules.filter(({ untilMs }) => untilMs !== undefined);
    this.#over = this.#overAt(nowMs);
    this.#plan();
  }

  /** Writes down when it was last known. */
  close(): void {
    this.#cancel?.();
    if (this.#rules.length > 0) this.#options.keepTime();
  }

  #overAt(nowMs: number | null): number {
    return this.#rules.filter((rule) => isOver(rule, nowMs)).length;
  }

  #plan(): void {
    this.#cancel?.();
    this.#cancel = null;
    if (this.#rules.length === 0) return;
    const nowMs = this.nowMs();
    this.#keep(nowMs);
    const next = nextEndMs(this.#rules, nowMs);
    // Whatever has ended stays so, unless the time was not known.
    if (next === null && Number.isFinite(nowMs)) return;
    const leftMs = next === null ? LOOK_MS : next - nowMs;
    this.#cancel = this.#options.clock.after(leftMs > DAY_MS ? KEEP_MS : Math.min(leftMs, LOOK_MS), () => this.#look());
  }

  #keep(nowMs: number): void {
    if (!Number.isFinite(nowMs) || (this.#keptMs !== null && nowMs - this.#keptMs < KEEP_MS)) return;
    this.#keptMs = nowMs;
    this.#options.keepTime();
  }

  #look(): void {
    if (this.#overAt(this.nowMs()) === this.#over) this.#plan();
    else this.#options.onChange();
  }
}
