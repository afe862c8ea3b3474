// One path against what holds: it may be used, or not, or if a person gives it.

import type { Timer } from '../../client/timer.ts';
import type { Access } from '../../core/access.ts';
import { offerFor } from '../../core/offers.ts';
import type { RealPath } from '../../core/path.ts';
import type { BoundaryEntry, WireOffer } from '../../core/protocol.ts';
import { HeldPlaces, type Objection, type Use } from './held-places.ts';
import type { NamedPath } from './named-paths.ts';
import { Places } from './places.ts';

/** A place that a person could give. */
export interface Lacking {
  readonly path: RealPath;
  readonly access: Access;
  /** The place that would be given: it holds the path. */
  readonly offered: string;
  /** What stands against it as long as nobody has. */
  readonly objection: Objection;
}

/** `wait`: ask again after onAnswer(). A list: it may be used once all of this is given, at once where that is nothing. */
export type PathJudgement = Objection | 'wait' | readonly Lacking[];

const NOTHING: readonly Lacking[] = [];

export interface PathJudgeOptions {
  readonly timer: Timer;
  /** What was told to wait may be judged again. */
  readonly onAnswer: () => void;
}

export class PathJudge {
  readonly #options: PathJudgeOptions;
  /** As long as nobody has said what may be used, nothing may. */
  #held = new HeldPlaces([]);
  #offers: readonly WireOffer[] = [];
  #places: Places | null = null;

  constructor(options: PathJudgeOptions) {
    this.#options = options;
  }

  /** From now on this holds; `offers`: what a person could give beyond. */
  update(entries: readonly BoundaryEntry[], offers: readonly WireOffer[]): void {
    this.#held = new HeldPlaces(entries);
    this.#offers = offers;
  }

  get entries(): readonly BoundaryEntry[] {
    return this.#held.entries;
  }

  /** Is there any place that may be changed? */
  get holdsWritable(): boolean {
    return this.#held.holdsWritable;
  }

  /** Of all that it may mean the worst counts. */
  *judge({ candidates }: NamedPath, use: Use): Generator<void, PathJudgement> {
    if (candidates === null) return 'ambiguous';
    const lacking: Lacking[] = [];
    let mustWait = false;
    for (const candidate of candidates) {
      const judged = this.#judgePath(candidate, use);
      yield;
      if (judged === 'wait') mustWait = true;
      else if (typeof judged === 'string') return judged;
      else lacking.push(...judged);
    }
    return mustWait ? 'wait' : lacking;
  }

  /** Nobody waits for what is only shown: where it leads on a mount that may hang, its text tells. */
  mayShow(path: string): boolean {
    const judged = this.#judgePath(path, 'read');
    if (judged === 'wait') return this.#held.objectionToText(path) === null;
    return typeof judged !== 'string' && judged.length === 0;
  }

  /** Is somebody asked whose answer is waited for? */
  get isAsking(): boolean {
    return this.#places?.isAsking ?? false;
  }

  /** The line waits no longer: what the disk said held for it alone. */
  lineIsDone(): void {
    this.#places?.forgetAnswers();
  }

  close(): void {
    this.#places?.close();
  }

  #judgePath(path: string, use: Use): PathJudgement {
    const byText = this.#held.objectionToText(path);
    if (byText === 'carved') return 'carved';
    const found = this.#find(path);
    if (found === 'wait') return 'wait';
    const objection = found.ok ? this.#objectionTo(found.path, use) : found.isSilent ? 'silent' : 'outside';
    if (objection === null) return NOTHING;
    // What a link inside leads to is not told apart from what is not there.
    const isOutside = objection === 'outside' || (objection === 'silent' && byText === 'outside');
    const told = !isOutside ? objection : byText === 'outside' ? 'outside' : 'leads-outside';
    return found.ok && (objection === 'outside' || objection === 'read-only')
      ? this.#offered(found.path, use, told)
      : told;
  }

  /** What could be given of a place that is not, where nothing else stands against it. */
  #offered(path: RealPath, use: Use, objection: Objection): PathJudgement {
    const access = use === 'read' ? 'read-only' : 'read-write';
    const offer = offerFor(this.#offers, path, access);
    if (offer === null) return objection;
    if (offer === 'refused') return 'refused';
    const more = new HeldPlaces([{ ...offer, access }]).objectionTo(path, use);
    return more ?? [{ path, access, offered: offer.path, objection }];
  }

  #objectionTo(place: RealPath, use: Use): Objection | null {
    const objection = this.#held.objectionTo(place, use);
    if (objection !== null) return objection;
    const isBound = this.#held.projectFilesIn(place, use).some((file) => this.#places?.mayBeThere(file) ?? true);
    return isBound ? 'project-file' : null;
  }

  #find(path: string): ReturnType<Places['find']> {
    const { timer, onAnswer } = this.#options;
    this.#places ??= new Places({ timer, onAnswer });
    return this.#places.find(path);
  }
}
