import { isDeepStrictEqual } from 'node:util';
import type { Place, RootFacts } from '../core/place.ts';
import { type Observation, type Standing, settle, settlesAtMs, standsDifferently } from './availability.ts';
import { directoryHints, type Hint, sameHints, spellingHints } from './hints.ts';
import type { Looking } from './looking.ts';
import { MountPin } from './mount-pin.ts';
import type { MountTable } from './mounts.ts';
import { PROJECT_FILE, ProjectWatch, type ReadProject } from './project-file.ts';

export interface RootWatchOptions {
  /** As written, stars replaced. */
  readonly path: string;
  readonly observe: () => Observation;
  readonly mounts: MountTable;
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
    this.#pin = new MountPin(options.mounts);
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
    const seen = this.#pin.judge(this.#options.observe());
    this.#seen = seen;
    this.#standing = settle(standing, seen, nowMs);
    this.#wasAvailable ||= this.#standing.available;
    this.#aim(seen.place);
    this.#lookAtProject(nowMs);
    const isOther = standsDifferently(standing, this.#standing) || !isDeepStrictEqual(project, this.#project?.file);
    return isOther && (isShown || this.isShown);
  }

  #aim(place: Place | null): void {
    const { path, names } = this.#options;
    const isDirectory = place !== null && this.#project !== null;
    const hints = isDirectory ? directoryHints(path, place, [...names, PROJECT_FILE]) : spellingHints(path);
    if (hints !== null && !sameHints(hints, this.#hints)) this.#hints = hints;
  }

  /** A root that is missed and may be back in a moment keeps what its project file says. */
  #lookAtProject(nowMs: number): void {
    const { place = null, available = false, missedSinceMs = null } = this.#standing ?? {};
    if (missedSinceMs === null) this.#project?.look(available ? place : null, nowMs);
  }
}
