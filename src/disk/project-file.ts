// Notices that a root's own `.rootsd.yaml` has changed. Reading it is somebody else's part.

import { lstatSync } from 'node:fs';
import type { RealPath } from '../core/path.ts';
import type { Place, ProjectFile } from '../core/place.ts';
import { LONGEST_WAIT_MS, STABLE_MS } from '../core/settling.ts';
import { failureOf } from './failure.ts';
import { childOf } from './link-walk.ts';

export const PROJECT_FILE = '.rootsd.yaml';

/** Reads and judges the project file of a root, which exists. */
export type ReadProject = (root: RealPath) => ProjectFile | undefined;

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

  /** When to look again because a change has not settled yet, or null. */
  get dueMs(): number | null {
    const change = this.#change;
    return change === null ? null : Math.min(change.sinceMs + STABLE_MS, change.firstMs + LONGEST_WAIT_MS);
  }

  /** Looks at the file in this root, and reads it if it is another one and has settled. null: there is no root now. */
  look(place: Place | null, nowMs: number): void {
    const fingerprint = place === null ? '' : fingerprintOf(place.path);
    const isSamePlace = place?.identity === this.#place?.identity && place?.path === this.#place?.path;
    this.#place = place;
    if (isSamePlace && fingerprint === this.#fingerprint) this.#change = null;
    else if (!isSamePlace || this.#hasSettled(fingerprint, nowMs)) this.#take(place, fingerprint);
  }

  #hasSettled(fingerprint: string, nowMs: number): boolean {
    if (this.#change?.fingerprint !== fingerprint) {
      this.#change = { fingerprint, sinceMs: nowMs, firstMs: this.#change?.firstMs ?? nowMs };
    }
    return nowMs >= (this.dueMs ?? nowMs);
  }

  #take(place: Place | null, fingerprint: string): void {
    this.#change = null;
    this.#fingerprint = fingerprint;
    this.#file = place === null || fingerprint === '' ? undefined : this.#read(place.path);
  }
}

/** Differs whenever the file may say something else; empty: there is none. */
function fingerprintOf(root: RealPath): string {
  try {
    const stat = lstatSync(childOf(root, PROJECT_FILE), { bigint: true, throwIfNoEntry: false });
    if (stat === undefined) return '';
    const { dev, ino, mode, uid, gid, size, mtimeNs, ctimeNs } = stat;
    return [dev, ino, mode, uid, gid, size, mtimeNs, ctimeNs].join(':');
  } catch (error) {
    return failureOf(error).errno ?? 'unknown';
  }
}
