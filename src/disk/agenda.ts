import type { Clock } from './clock.ts';

/** What has to be done when: the earlier of two times counts. Calls back when something is due. */
export class Agenda<T> {
  readonly #clock: Clock;
  readonly #onDue: (due: readonly T[]) => void;
  readonly #times = new Map<T, number>();
  #alarm: { readonly atMs: number; readonly cancel: () => void } | null = null;

  constructor(clock: Clock, onDue: (due: readonly T[]) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  add(item: T, atMs: number): void {
    this.#times.set(item, Math.min(atMs, this.#times.get(item) ?? atMs));
    this.#wakeAt(atMs);
  }

  remove(item: T): void {
    this.#times.delete(item);
  }

  close(): void {
    this.#times.clear();
    this.#alarm?.cancel();
    this.#alarm = null;
  }

  #wakeAt(atMs: number): void {
    if (this.#alarm !== null && this.#alarm.atMs <= atMs) return;
    this.#alarm?.cancel();
    const cancel = this.#clock.after(Math.max(0, atMs - this.#clock.now()), () => this.#wake());
    this.#alarm = { atMs, cancel };
  }

  #wake(): void {
    this.#alarm = null;
    const nowMs = this.#clock.now();
    const due = [...this.#times].filter(([, atMs]) => atMs <= nowMs).map(([item]) => item);
    for (const item of due) this.#times.delete(item);
    for (const atMs of this.#times.values()) this.#wakeAt(atMs);
    if (due.length > 0) this.#onDue(due);
  }
}
