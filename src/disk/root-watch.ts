import { isDeepStrictEqual } from 'node:util';
import type { Place, RootFacts } from '../core/place.ts';
import { type Observation, type Standing, settle, settlesAtMs, standsDifferently } from './availability.ts';
import { directoryHints, type Hint, sameHints, spellingHints } from './hints.ts';
import type { Looking } from './looking.ts';
import type { Lookout } from './lookout.ts';
import { MountPin } from './mount-pin.ts';
import { observeMember, observeRoot } from './observe-root.ts';
import { PROJECT_FILE, type ProjectSource, ProjectWatch, type ReadProject } from './project-file.ts';
import { type RootAnswer, receiveProject, type SlowQuestion } from './slow-question.ts';

export interface RootWatchOptions {
  /** As written, stars replaced. */
  readonly path: string;
  readonly kind: 'directory' | 'file';
  /** Of a pattern root, what a member holds: it concerns nobody until it is a member. null: a root of its own. */
  readonly having: readonly string[] | null;
  readonly lookout: Lookout;
  readonly readProject: ReadProject;
}

/** Shared: there are many roots. */
const PROJECT_NAMES = [PROJECT_FILE];

/** One place that may be a root: a declared path, or one directory that a pattern root may have as a member. */
export class RootWatch implements Looking {
  readonly #options: RootWatchOptions;
  readonly #project: ProjectWatch | null;
  readonly #pin: MountPin;
  readonly #names: readonly string[];
  #isSeen = true;
  #standing: Standing | null = null;
  #wasAvailable = false;
  #hints: readonly Hint[] = [];

  constructor(options: RootWatchOptions) {
    this.#options = options;
    this.#pin = new MountPin(options.lookout.mounts);
    this.#project = options.kind === 'file' ? null : new ProjectWatch(options.readProject);
    this.#names = options.having === null ? PROJECT_NAMES : [...options.having, PROJECT_FILE];
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
    if (this.#options.having === null || this.#standing?.available) return true;
    return this.#wasAvailable && this.#standing?.place != null;
  }

  /** Nothing lies there, nor did a moment ago. */
  get isGone(): boolean {
    return !this.#isSeen && this.#standing?.place === null;
  }

  facts(): Pick<RootFacts, 'place' | 'available' | 'unavailable' | 'project'> {
    const { place = null, available = false, why = 'has not been looked at yet' } = this.#standing ?? {};
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
    this.#isSeen = seen.place !== null;
    this.#standing = settle(standing, seen, nowMs);
    this.#wasAvailable ||= this.#standing.available;
    this.#aim(seen.place, sight.isHere);
    this.#lookAtProject(nowMs, sight.project);
    const isOther = standsDifferently(standing, this.#standing) || !isDeepStrictEqual(project, this.#project?.file);
    return isOther && (isShown || this.isShown);
  }

  #see(): Sight {
    const { path, kind, having, lookout } = this.#options;
    const { walk } = lookout;
    const seen = having === null ? observeRoot(path, kind, walk) : observeMember(path, having, walk);
    if (seen.state !== 'refused' || seen.slow === undefined) {
      lookout.forget(this);
      return { seen, isHere: true };
    }
    const asked = lookout.ask<RootAnswer>(this, seen.slow, this.#question());
    if (asked.state === 'open') return { seen, isHere: false };
    if (asked.state === 'late')
      return { seen: { ...seen, why: 'lies on a file system that does not answer' }, isHere: false };
    return { seen: asked.answer.seen, isHere: false, ...projectOf(asked.answer) };
  }

  #question(): SlowQuestion {
    const { path, kind, having } = this.#options;
    return having === null ? { about: 'root', path, kind } : { about: 'member', path, having };
  }

  #aim(place: Place | null, isHere: boolean): void {
    const { path, lookout } = this.#options;
    const isDirectory = place !== null && this.#project !== null && isHere;
    const hints = isDirectory ? directoryHints(path, place, this.#names) : spellingHints(path, lookout.mayTouch);
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
