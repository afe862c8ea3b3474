import type { Timer } from '../../src/client/timer.ts';

interface Alarm {
  readonly at: number;
  readonly ring: () => void;
}

/** A clock that a test moves. */
export class ManualTimer {
  #now = 0;
  #alarms: Alarm[] = [];

  readonly after: Timer = (ms, callback) => {
    const alarm = { at: this.#now + ms, ring: callback };
    this.#alarms.push(alarm);
    return () => {
      this.#alarms = this.#alarms.filter((other) => other !== alarm);
    };
  };

  /** What is to ring, in ms from now. */
  get pending(): readonly number[] {
    return this.#alarms.map(({ at }) => at - this.#now);
  }

  /** Moves on, and rings what is due, in order. */
  advance(ms: number): void {
    this.#now += ms;
    const due = this.#alarms.filter(({ at }) => at <= this.#now).sort((a, b) => a.at - b.at);
    this.#alarms = this.#alarms.filter(({ at }) => at > this.#now);
    for (const { ring } of due) ring();
  }
}
