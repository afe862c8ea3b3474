import { type LaunchPlan, type ViewMessage, wireBoundary, wireOffers, wireRoots, wireView } from './protocol.ts';
import type { View } from './view.ts';

/** A view as a session is told it, but for the serial, which each session counts for itself. */
export type ToldMessage = Omit<ViewMessage, 'serial'>;

/** What is longer is kept as bytes, so that all sessions that have it on its way share them. */
const SHARED_LENGTH = 64 * 1024;

/** What all sessions with one view are told: its JSON text is made once for all of them, when it is first asked for. */
export class ToldView {
  readonly message: ToldMessage;
  #rootsJson: string | null = null;
  #boundaryJson: string | null = null;
  #restJson: string | null = null;
  #lineEnd: string | Buffer | null = null;

  constructor(message: ToldMessage) {
    this.message = message;
  }

  get generation(): string {
    return this.message.generation;
  }

  get plan(): LaunchPlan {
    return this.message.plan;
  }

  /** The result of `roots/list`. */
  get listJson(): string {
    return `{"roots":${this.#roots}}`;
  }

  /** The result of `rootsd/attach`; `own` is what differs between sessions, as JSON text. */
  attachJson(own: { readonly session: string; readonly peer: string }): string {
    const { generation, plan } = this.message;
    const head = `{"session":${own.session},"generation":${JSON.stringify(generation)},"peer":${own.peer}`;
    return `${head},"roots":${this.#roots},"boundary":${this.#boundary},"plan":${JSON.stringify(plan)}}`;
  }

  /** The whole message. */
  viewJson(serial: number): string {
    return `${startOf(serial)}${this.#rest}`;
  }

  /** The whole message as the last member of the object that is a line: what is the session's own, and what all share. */
  viewLine(serial: number): { readonly own: string; readonly shared: string | Buffer } {
    return { own: startOf(serial), shared: this.#shared };
  }

  /** Makes the parts of attachJson() before they are asked for, one a step; with `isWatched` those of viewLine() too. */
  *makeInSteps({ isWatched }: { readonly isWatched: boolean }): Generator<void> {
    for (const make of [() => this.#roots, () => this.#boundary, ...(isWatched ? [() => this.#shared] : [])]) {
      make();
      yield;
    }
  }

  get #roots(): string {
    this.#rootsJson ??= JSON.stringify(this.message.roots);
    return this.#rootsJson;
  }

  get #boundary(): string {
    this.#boundaryJson ??= JSON.stringify(this.message.boundary);
    return this.#boundaryJson;
  }

  get #shared(): string | Buffer {
    this.#lineEnd ??= sharedText(`${this.#rest}}\n`);
    return this.#lineEnd;
  }

  get #rest(): string {
    if (this.#restJson === null) {
      const { generation, plan, roots, boundary, ...rest } = this.message;
      const head = `"generation":${JSON.stringify(generation)},"plan":${JSON.stringify(plan)}`;
      const told = `"roots":${this.#roots},"boundary":${this.#boundary}`;
      this.#restJson = `${head},${told},${JSON.stringify(rest).slice(1)}`;
    }
    return this.#restJson;
  }
}

/** How a view is told under a generation: of ten thousand roots each part takes its time, and is a step. */
export function* tellInSteps(
  view: View,
  { generation, plan }: Pick<ToldMessage, 'generation' | 'plan'>,
): Generator<void, ToldView> {
  const roots = wireRoots(view);
  yield;
  const boundary = wireBoundary(view);
  yield;
  return new ToldView({ generation, plan, roots, boundary, view: wireView(view), offers: wireOffers(view) });
}

function startOf(serial: number): string {
  return `{"serial":${serial},`;
}

function sharedText(text: string): string | Buffer {
  return text.length < SHARED_LENGTH ? text : Buffer.from(text);
}
