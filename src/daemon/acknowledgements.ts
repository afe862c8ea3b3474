// Who has said `rootsd/ack` for which generation: what `reload --wait` waits for.

import type { AttachedSession } from '../socket/authority.ts';

export interface Waited {
  readonly acknowledged: number;
  /** Sessions that were told and have not acknowledged in time. */
  readonly late: number;
}

interface Wait {
  readonly generation: string;
  readonly open: Set<AttachedSession>;
  readonly done: () => void;
}

export class Acknowledgements {
  readonly #waits = new Set<Wait>();

  /** Waits until each of the sessions has acknowledged the generation or closed, at most `limitMs`. */
  async wait(sessions: readonly AttachedSession[], generation: string, limitMs: number): Promise<Waited> {
    const open = new Set(sessions);
    if (open.size > 0) await this.#settled(open, generation, limitMs);
    return { acknowledged: sessions.length - open.size, late: open.size };
  }

  receive(session: AttachedSession, generation: string): void {
    for (const wait of this.#waits) if (wait.generation === generation) settle(wait, session);
  }

  /** A session that has closed is not waited for. */
  forget(session: AttachedSession): void {
    for (const wait of this.#waits) settle(wait, session);
  }

  #settled(open: Set<AttachedSession>, generation: string, limitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#waits.delete(wait);
        resolve();
      };
      const wait: Wait = { generation, open, done };
      const timer = setTimeout(done, limitMs);
      this.#waits.add(wait);
    });
  }
}

function settle(wait: Wait, session: AttachedSession): void {
  if (wait.open.delete(session) && wait.open.size === 0) wait.done();
}
