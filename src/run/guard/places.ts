// Where a path leads, asked without hanging: what lies on a mount that may not answer is asked by a helper process, and
// whoever asked comes back for the answer.

import type { Timer } from '../../client/timer.ts';
import type { RealPath } from '../../core/path.ts';
import { HelperProcess } from '../../disk/helper-process.ts';
import { type KernelWalk, kernelWalk } from '../../disk/kernel-walk.ts';
import { MountTable } from '../../disk/mounts.ts';
import { resolvePlace } from '../../disk/resolve.ts';
import { guardWalk, SlowMounts } from '../../disk/slow-mounts.ts';
import type { PathAnswer, SlowQuestion } from '../../disk/slow-question.ts';

/** How long the helper has for all that it is asked at once. */
const DEADLINE_MS = 2_000;
/** After it was late nothing is asked for a while: what hangs once hangs again, and a helper that hangs cannot be killed. */
const PAUSE_MS = 5_000;
/** How long the mount table is taken to be the same. */
const MOUNTS_MS = 1_000;

export interface PlacesOptions {
  readonly timer: Timer;
  /** Somebody was told to wait, and need not any more. */
  readonly onAnswer: () => void;
  /** What the helper runs, and where mounts are listed; tests have others. */
  readonly script?: string;
  readonly mountInfo?: string;
}

export type Found =
  /** `isThere: false`: this is where it would be made. */
  | { readonly ok: true; readonly path: RealPath; readonly isThere: boolean }
  /** `isSilent`: the file system does not answer. */
  | { readonly ok: false; readonly isSilent: boolean };

const NOWHERE: Found = { ok: false, isSilent: false };
const SILENT: Found = { ok: false, isSilent: true };

export class Places {
  readonly #options: PlacesOptions;
  readonly #mounts: MountTable;
  readonly #walk: KernelWalk;
  #mountsAreNew = true;
  #helper: HelperProcess | null = null;
  /** Killed, and has not ended: another one would hang as well. */
  #hanging: HelperProcess | null = null;
  #isPausing = false;
  /** Asked and not answered, in order. */
  readonly #open = new Set<string>();
  #cancelDeadline: (() => void) | null = null;
  readonly #answers = new Map<string, Found>();

  constructor(options: PlacesOptions) {
    this.#options = options;
    this.#mounts = new MountTable(options.mountInfo === undefined ? {} : { file: options.mountInfo });
    this.#walk = guardWalk(kernelWalk(), new SlowMounts(this.#mounts));
    this.#age();
  }

  /** `wait`: ask again after onAnswer(). */
  find(path: string): Found | 'wait' {
    const answered = this.#answers.get(path);
    if (answered !== undefined) return answered;
    this.#refreshMounts();
    const resolved = resolvePlace(path, this.#walk);
    if (resolved.ok) return { ok: true, path: resolved.path, isThere: resolved.isThere };
    if (resolved.slow === undefined) return NOWHERE;
    if (this.#isPausing || this.#hanging !== null) return SILENT;
    this.#ask(path);
    return 'wait';
  }

  /** Will onAnswer() be called? */
  get isAsking(): boolean {
    return this.#open.size > 0;
  }

  /** Is something of this name there, as far as can be told without waiting? */
  mayBeThere(path: string): boolean {
    const located = this.#walk.locate(path);
    return located.ok || located.errno !== 'ENOENT';
  }

  /** What was answered held for one message. */
  forgetAnswers(): void {
    this.#answers.clear();
  }

  close(): void {
    this.#cancelDeadline?.();
    this.#helper?.kill();
    this.#helper = null;
  }

  #refreshMounts(): void {
    if (this.#mountsAreNew) return;
    this.#mounts.refresh();
    this.#mountsAreNew = true;
    this.#age();
  }

  #age(): void {
    this.#options.timer(MOUNTS_MS, () => {
      this.#mountsAreNew = false;
    });
  }

  #ask(path: string): void {
    if (this.#open.has(path)) return;
    const question: SlowQuestion = { about: 'path', path };
    this.#helper ??= this.#startHelper();
    this.#open.add(path);
    this.#helper.ask(JSON.stringify(question));
    if (this.#cancelDeadline === null) this.#setDeadline();
  }

  #setDeadline(): void {
    this.#cancelDeadline?.();
    this.#cancelDeadline = this.#options.timer(DEADLINE_MS, () => this.#giveUp());
  }

  #startHelper(): HelperProcess {
    const helper: HelperProcess = new HelperProcess({
      onReady: () => helper === this.#helper && this.#open.size > 0 && this.#setDeadline(),
      onLine: (line) => helper === this.#helper && this.#take(JSON.parse(line) as PathAnswer),
      onEnd: () => this.#end(helper),
      ...(this.#options.script === undefined ? {} : { script: this.#options.script }),
    });
    return helper;
  }

  #take({ leadsTo, isThere }: PathAnswer): void {
    const [path] = this.#open;
    if (path === undefined) return;
    this.#open.delete(path);
    this.#answers.set(path, leadsTo === null ? NOWHERE : { ok: true, path: leadsTo as RealPath, isThere });
    if (this.#open.size === 0) this.#settle();
  }

  #end(helper: HelperProcess): void {
    if (helper === this.#hanging) this.#hanging = null;
    if (helper === this.#helper) this.#giveUp();
  }

  #giveUp(): void {
    const helper = this.#helper;
    this.#helper = null;
    if (helper?.hasEnded === false) {
      this.#hanging = helper;
      helper.kill();
    }
    this.#isPausing = true;
    this.#options.timer(PAUSE_MS, () => {
      this.#isPausing = false;
    });
    for (const path of this.#open) this.#answers.set(path, SILENT);
    this.#open.clear();
    this.#settle();
  }

  #settle(): void {
    this.#cancelDeadline?.();
    this.#cancelDeadline = null;
    this.#options.onAnswer();
  }
}
