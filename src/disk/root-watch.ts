import { isDeepStrictEqual } from 'node:util';
import type { Place, RootFacts } from '../core/place.ts';
import { type Observation, type Standing, settle, settlesAtMs, standsDifferently } from './availability.ts';
import { isCalm } from './calm.ts';
import { directoryHints, type Hint, sameHints, spellingHints } from './hints.ts';
import { identityOf } from './identity.ts';
import type { Looking } from './looking.ts';
import type { Lookout } from './lookout.ts';
import type { Mount } from './mount.ts';
import { MountPin } from './mount-pin.ts';
import { observeInside, observePlace, type Sought } from './observe-root.ts';
import { PROJECT_FILE, type ProjectSource, ProjectWatch, type ReadProject } from './project-file.ts';
import { type Resolved, resolvePath } from './resolve.ts';
import { type RootAnswer, receiveProject, type SlowQuestion } from './slow-question.ts';

/**
 * Shared by many roots. A member of a pattern root concerns nobody until it holds what it must; a root of its own always
 * does.
 */
export interface RootWatchOptions extends Sought {
  readonly lookout: Lookout;
  readonly readProject: ReadProject;
}

/** Shared: there are many roots. */
const PROJECT_NAMES = [PROJECT_FILE];

/** One place that may be a root: a declared path, or one directory that a pattern root may have as a member. */
export class RootWatch implements Looking {
  readonly #path: string;
  readonly #options: RootWatchOptions;
  readonly #project: ProjectWatch | null;
  readonly #pin: MountPin;
  #isSeen = true;
  #standing: Standing | null = null;
  #wasAvailable = false;
  #hints: readonly Hint[] = [];
  /** When something last happened in a directory that has been calm since, as it says itself; null: not to be relied on. */
  #calmSinceNs: bigint | null = null;
  #calmMounts = 0;

  /** `path`: as written, stars replaced. */
  constructor(path: string, options: RootWatchOptions) {
    this.#path = path;
    this.#options = options;
    this.#pin = new MountPin(options.lookout.mounts);
    this.#project = options.kind === 'file' ? null : new ProjectWatch(options.readProject);
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

  /** What lies there first, then what is in it: between the two there is time to watch it. */
  *look(nowMs: number): Generator<void, boolean> {
    const path = this.#path;
    const resolved = resolvePath(path, this.#options.lookout.walk);
    if (resolved.ok && this.#isCalm(resolved)) return false;
    this.#calmSinceNs = null;
    const { isShown } = this;
    const standing = this.#standing;
    const project = this.#project?.file;
    const place = observePlace(path, resolved, this.#options);
    this.#aim(place.place, !isSlow(place));
    yield;
    const sight = this.#see(place);
    const seen = this.#pin.judge(sight.seen);
    this.#isSeen = seen.place !== null;
    this.#standing = settle(standing, seen, nowMs);
    this.#wasAvailable ||= this.#standing.available;
    this.#lookAtProject(nowMs, sight.project);
    if (resolved.ok && seen.state === 'there') this.#rest(resolved);
    const isOther = standsDifferently(standing, this.#standing) || !isDeepStrictEqual(project, this.#project?.file);
    return isOther && (isShown || this.isShown);
  }

  #see(seen: Observation): Sight {
    const { lookout } = this.#options;
    if (!isSlow(seen)) {
      lookout.forget(this);
      return { seen: observeInside(seen, this.#options) };
    }
    const asked = lookout.ask<RootAnswer>(this, seen.slow, this.#question());
    if (asked.state === 'open') return { seen };
    if (asked.state === 'late') return { seen: { ...seen, why: 'lies on a file system that does not answer' } };
    return { seen: asked.answer.seen, ...projectOf(asked.answer) };
  }

  /**
   * Nothing can have changed in a directory without links on its way and without a project file, under the same mounts,
   * whose ctime is the same: whatever comes, goes or changes its mode sets that.
   */
  #isCalm({ path, stat }: Resolved): boolean {
    return (
      stat !== null &&
      stat.ctimeNs === this.#calmSinceNs &&
      path === this.#path &&
      identityOf(stat) === this.#standing?.place?.identity &&
      this.#options.lookout.mounts.version === this.#calmMounts
    );
  }

  #rest({ path, stat }: Resolved): void {
    if (stat === null || path !== this.#path || !stat.isDirectory() || this.dueMs !== null) return;
    if (this.#project?.isThere !== false || !this.#standing?.available) return;
    const { mounts, clock } = this.#options.lookout;
    if (!isCalm(stat, clock)) return;
    this.#calmSinceNs = stat.ctimeNs;
    this.#calmMounts = mounts.version;
  }

  #question(): SlowQuestion {
    const path = this.#path;
    const { kind, having } = this.#options;
    return having === null ? { about: 'root', path, kind } : { about: 'member', path, having };
  }

  #aim(place: Place | null, isHere: boolean): void {
    const { having, lookout } = this.#options;
    const isDirectory = place !== null && this.#project !== null && isHere;
    const names = having === null ? PROJECT_NAMES : [...having, PROJECT_FILE];
    const hints = isDirectory ? directoryHints(this.#path, place, names) : spellingHints(this.#path, lookout.mayTouch);
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
  /** Where the project file is looked at; omitted: on the disk. */
  readonly project?: ProjectSource;
}

function isSlow(seen: Observation): seen is Observation & { readonly state: 'refused'; readonly slow: Mount } {
  return seen.state === 'refused' && seen.slow !== undefined;
}

function projectOf({ project }: RootAnswer): { readonly project?: ProjectSource } {
  if (project === null) return {};
  const { fingerprint, fetched } = project;
  return { project: { fingerprint: () => fingerprint, fetched: () => receiveProject(fetched) } };
}
