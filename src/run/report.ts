import { REFUSALS_TOLD, type RefusedCall, type SessionReport } from '../core/protocol.ts';
import { Quota } from '../core/quota.ts';

/** Who is told. */
export interface Informed {
  report(report: SessionReport): void;
  refused(call: RefusedCall): void;
}

/** What the daemon cannot see of a session, told to it as it becomes known. */
export class Report {
  readonly #to: Informed;
  readonly #quota = new Quota(REFUSALS_TOLD.limit, REFUSALS_TOLD.windowMs);
  #report: SessionReport = { era: null, channels: [], askedForRoots: null, elicits: false };

  constructor(to: Informed) {
    this.#to = to;
  }

  /** This has become known, or is something else now. */
  add(known: Partial<SessionReport>): void {
    const report = { ...this.#report, ...known };
    if (JSON.stringify(report) === JSON.stringify(this.#report)) return;
    this.#report = report;
    this.#to.report(report);
  }

  /** The guard has refused a call. A host that goes on and on fills nobody's log. */
  refused(call: Omit<RefusedCall, 'left'>): void {
    const left = this.#quota.take(performance.now());
    if (left !== null) this.#to.refused({ ...call, left });
  }
}
