import { isDeepStrictEqual } from 'node:util';
import type { Place, RootFacts } from '../core/place.ts';
import { type Observation, type Standing, settle, settlesAtMs, standsDifferently } from './availability.ts';
import { directoryHints, type Hint, sameHints, spellingHints } from './hints.ts';
import type { Looking } from './looking.ts';
import type { Lookout } from './lookout.ts';
import { MountPin } from './mount-pin.ts';
import { PROJECT_FILE, type ProjectSource, ProjectWatch, type ReadProject } from './project-file.ts';
import { type RootAnswer, receiveProject, type SlowQuestion } from './slow-question.ts';

export interface RootWatchOptions {
  /** As written, stars replaced. */
  readonly path: string;
  /** Looks at it here and now. */
  readonly observe: () => Observation;
  /** What to ask where that might hang. */
  readonly question: SlowQuestion;
  readonly lookout: Lookout;
  /** Entries of the directory that matter beside the project file. */
  readonly names: readonly string[];
  /** Of a pattern root: it concerns nobody until it is a member. */
  readonly isCandidate: boolean;
  /** null for a file, which has none. */
  readonly readProject: ReadProject | null;
}

/** One place that may be a root: a declared path, or one directory that a pattern root may have as a member. */
export class RootWatch implements Looking {
  readonly #options: RootWatchOptions;
  readonly #project: ProjectWatch | null;
  readonly #pin: MountPin;
  #seen: Observation | null = null;
  #standing: Standing | null = null;
  #wasAvailable = false;
  #hints: readonly Hint[] = [];

  constructor(options: RootWatchOptions) {
    this.#options = options;
    this.#pin = new MountPin(options.lookout.mounts);
    this.#project = options.readProject === null ? null : new ProjectWatch(options.readProject);
  }

  get hints(): readonly Hint[] {
    return this.#hints;
  }

  get dueMs(): number | null {
    const times = [this.#standing === null ? null : settlesAtMs(this.#standing), this.#project?.dueMs ?? null];
    return times.reduce((first, time) => (first === null || (time !== null && time < first) ? time : first));
  }

  /** Does it concern anybody? A candidate does once it is there, and then also while it cannot be read. */
  get isShown(): boolean {
    if (!this.#options.isCandidate || this.#standing?.available) return true;
    return this.#wasAvailable && this.#standing?.place != null;
  }

  /** Nothing lies there, nor did a moment ago. */
  get isGone(): boolean {
    return this.#seen?.place === null && this.#standing?.place === null;
  }

  facts(): Pick<RootFacts, 'place' | 'available' | 'unavailable' | 'project'> {
    const { place = null, available = false, why = '' } = this.#standing ?? {};
    const project = this.#project?.file;
    return { place, available, unavailable: why, ...(project === undefined ? {} : { project }) };
  }

  // biome-ignore lint/correctness/useYield: one look is one step; the interface is made for longer ones.
  *look(nowMs: number): Generator<void, boolean> {
    const { isShown } = this;
    const standing = this.#standing;
    const project = this.#project?.file;
    const sight = this.#see();
    const seen = this.#pin.judge(sight.seen);
    this.#seen = seen;
    this.#standing = settle(standing, seen, nowMs);
    this.#wasAvailable ||= this.#standing.available;
    this.#aim(seen.place, sight.isHere);
    this.#lookAtProject(nowMs, sight.project);
    const isOther = standsDifferently(standing, this.#standing) || !isDeepStrictEqual(project, this.#project?.file);
    return isOther && (isShown || this.isShown);
  }

  #see(): Sight {
    const { observe, lookout, question } = this.#options;
    const seen = observe();
    if (seen.state !== 'refused' || seen.slow === undefined) {
      lookout.forget(this);
      return { seen, isHere: true };
    }
    const asked = lookout.ask<RootAnswer>(this, seen.slow, question);
    if (asked.state === 'open') return { seen, isHere: false };
    if (asked.state === 'late')
      return { seen: { ...seen, why: 'lies on a file system that does not answer' }, isHere: false };
    return { seen: asked.answer.seen, isHere: false, ...projectOf(asked.answer) };
  }

  #aim(place: Place | null, isHere: boolean): void {
    const { path, names, lookout } = this.#options;
    const isDirectory = place !== null && this.#project !== null && isHere;
    const hints = isDirectory
      ? directoryHints(path, place, [...names, PROJECT_FILE])
      : spellingHints(path, lookout.mayTouch);
    if (hints !== null && !sameHints(hints, this.#hints)) this.#hints = hints;
  }

  /** A root that is missed and may be back in a moment keeps what its project file says. */
  #lookAtProject(nowMs: number, source?: ProjectSource): void {
    const { place = null, available = false, missedSinceMs = null } = this.#standing ?? {};
    if (missedSinceMs === null) this.#project?.look(available ? place : null, nowMs, source);
  }
}

interface Sight {
  readonly seen: Observation;
  /** Seen by this thread, not by the helper. */
  readonly isHere: boolean;
  /** Where the project file is looked at; omitted: on the disk. */
  readonly project?: ProjectSource;
}

function projectOf({ project }: RootAnswer): { readonly project?: ProjectSource } {
  if (project === null) return {};
  const { fingerprint, fetched } = project;
  return { project: { fingerprint: () => fingerprint, fetched: () => receiveProject(fetched) } };
}
