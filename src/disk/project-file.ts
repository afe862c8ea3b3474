// Notices that a root's own `.rootsd.yaml` has changed, and fetches it. Judging it is somebody else's part.

import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import type { RealPath } from '../core/path.ts';
import { childOf } from '../core/path.ts';
import type { Place, ProjectFile } from '../core/place.ts';
import { LONGEST_WAIT_MS, STABLE_MS } from '../core/settling.ts';
import { failureOf } from './failure.ts';

export const PROJECT_FILE = '.rootsd.yaml';

/** Reads and judges the project file of a root, which exists; what it holds may be fetched already. */
export type ReadProject = (root: RealPath, fetched?: FetchedProject) => ProjectFile | undefined;

/** At most one byte more than a project file may have. */
export type FetchedProject =
  | { readonly bytes: Buffer }
  /** A directory, a pipe or a device. */
  | { readonly bytes: null; readonly errno: null }
  | { readonly bytes: null; readonly errno: string };

/** Whoever owns a repository writes this file, and every decision looks at it. */
export const MAX_PROJECT_BYTES = 16 * 1024;
const OPEN_PROJECT = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW | constants.O_NOCTTY;

/** Reads the file without following a link (errno ELOOP) and without waiting at a pipe. */
export function fetchProject(root: string): FetchedProject {
  try {
    const fd = openSync(childOf(root, PROJECT_FILE), OPEN_PROJECT);
    try {
      if (!fstatSync(fd).isFile()) return { bytes: null, errno: null };
      const buffer = Buffer.alloc(MAX_PROJECT_BYTES + 1);
      return { bytes: buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, 0)) };
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    return { bytes: null, errno: failureOf(error).errno };
  }
}

/** Where a ProjectWatch looks: at the disk itself, or at what a helper has seen of it. */
export interface ProjectSource {
  /** Differs whenever the file may say something else; empty: there is none. */
  fingerprint(root: RealPath): string;
  /** undefined: nothing is fetched yet. */
  fetched(): FetchedProject | undefined;
}

const ON_DISK: ProjectSource = { fingerprint: projectFingerprint, fetched: () => undefined };

interface Change {
  readonly fingerprint: string;
  readonly sinceMs: number;
  /** When the first of these changes was seen. */
  readonly firstMs: number;
}

/** The project file of one root. */
export class ProjectWatch {
  readonly #read: ReadProject;
  #place: Place | null = null;
  #fingerprint = '';
  #change: Change | null = null;
  #file: ProjectFile | undefined;

  constructor(read: ReadProject) {
    this.#read = read;
  }

  /** As read last; undefined where there is none. */
  get file(): ProjectFile | undefined {
    return this.#file;
  }

  /** Was there one at the last look, whatever it is? */
  get isThere(): boolean {
    return this.#fingerprint !== '' || this.#change !== null;
  }

  /** When to look again because a change has not settled yet, or null. */
  get dueMs(): number | null {
    const change = this.#change;
    return change === null ? null : Math.min(change.sinceMs + STABLE_MS, change.firstMs + LONGEST_WAIT_MS);
  }

  /** Looks at the file in this root, and reads it if it is another one and has settled. null: there is no root now. */
  look(place: Place | null, nowMs: number, source: ProjectSource = ON_DISK): void {
    const fingerprint = place === null ? '' : source.fingerprint(place.path);
    const isSamePlace = place?.identity === this.#place?.identity && place?.path === this.#place?.path;
    this.#place = place;
    if (isSamePlace && fingerprint === this.#fingerprint) this.#change = null;
    else if (!isSamePlace || this.#hasSettled(fingerprint, nowMs)) this.#take(place, fingerprint, source);
  }

  #hasSettled(fingerprint: string, nowMs: number): boolean {
    if (this.#change?.fingerprint !== fingerprint) {
      this.#change = { fingerprint, sinceMs: nowMs, firstMs: this.#change?.firstMs ?? nowMs };
    }
    return nowMs >= (this.dueMs ?? nowMs);
  }

  #take(place: Place | null, fingerprint: string, source: ProjectSource): void {
    this.#change = null;
    this.#fingerprint = fingerprint;
    this.#file = place === null || fingerprint === '' ? undefined : this.#read(place.path, source.fetched());
  }
}

/** See ProjectSource. */
export function projectFingerprint(root: string): string {
  try {
    const stat = lstatSync(childOf(root, PROJECT_FILE), { bigint: true, throwIfNoEntry: false });
    if (stat === undefined) return '';
    const { dev, ino, mode, uid, gid, size, mtimeNs, ctimeNs } = stat;
    return [dev, ino, mode, uid, gid, size, mtimeNs, ctimeNs].join(':');
  } catch (error) {
    return failureOf(error).errno ?? 'unknown';
  }
}
