// The time by which what was given ends, over restarts and boots: one that goes on where the wall clock is set back.

import type { Now } from '../core/grant.ts';
import { advanceLasting, type LastingTime, lastingFrom } from '../core/moment.ts';
import type { ReadMoment } from '../disk/moment.ts';

export class LastingClock {
  readonly #readMoment: ReadMoment;
  /** What was last seen before this boot, where its clock says less: what has passed since then nobody knows. */
  #unknownUntilMs: number | null;
  #lasting: LastingTime;

  /** `kept`: what was last written down; null: nothing. */
  constructor(readMoment: ReadMoment, kept: LastingTime | null) {
    this.#readMoment = readMoment;
    const moment = readMoment();
    this.#lasting = kept ?? lastingFrom(moment);
    const isEarlier = kept !== null && kept.at.boot !== moment.boot && moment.wallMs < kept.ms;
    this.#unknownUntilMs = isEarlier ? kept.ms : null;
  }

  now(): Now {
    const moment = this.#readMoment();
    this.#lasting = advanceLasting(this.#lasting, moment);
    if (this.#unknownUntilMs !== null && moment.wallMs >= this.#unknownUntilMs) this.#unknownUntilMs = null;
    return { moment, lasting: this.#lasting };
  }

  /** When it is by what can be known, ms since 1970; null: it cannot, until somebody sets the clock right. */
  knownMs(): number | null {
    const { lasting } = this.now();
    return this.#unknownUntilMs === null ? lasting.ms : null;
  }
}
