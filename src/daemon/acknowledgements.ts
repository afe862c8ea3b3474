// Who has said `rootsd/ack` to what it was told last: what `reload --wait` waits for.

import type { AttachedSession } from '../socket/authority.ts';

export interface Waited {
  readonly acknowledged: number;
  /** Sessions that watch and have not acknowledged in time. */
  readonly late: number;
}

interface Wait {
  readonly open: Set<AttachedSession>;
  acknowledged: number;
  readonly done: () => void;
}

export class Acknowledgements {
  readonly #waits = new Set<Wait>();

  /** Waits until each of the sessions has acknowledged or closed, at most `limitMs`. */
  wait(sessions: readonly AttachedSession[], limitMs: number): Promise<Waited> {
    if (sessions.length === 0) return Promise.resolve({ acknowledged: 0, late: 0 });
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#waits.delete(wait);
        resolve({ acknowledged: wait.acknowledged, late: wait.open.size });
      };
      const wait: Wait = { open: new Set(sessions), acknowledged: 0, done };
      const timer = setTimeout(done, limitMs);
      this.#waits.add(wait);
    });
  }

  /** The session has acknowledged what it was told last. */
  receive(session: AttachedSession): void {
    for (const wait of this.#waits) {
      if (wait.open.has(session)) wait.acknowledged += 1;
      settle(wait, session);
    }
  }

  /** A session that has closed is not waited for. */
  forget(session: AttachedSession): void {
    for (const wait of this.#waits) settle(wait, session);
  }
}

function settle(wait: Wait, session: AttachedSession): void {
  if (wait.open.delete(session) && wait.open.size === 0) wait.done();
}
