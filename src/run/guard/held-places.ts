import { posix } from 'node:path';
import { carvedInside, createBoundary, type Enclosures, isCarved, isInside } from '../../core/boundary.ts';
import type { RealPath } from '../../core/path.ts';
import type { BoundaryEntry } from '../../core/protocol.ts';
import { PROJECT_FILE } from '../../disk/project-file.ts';

/** Why a place may not be used. */
export type Objection =
  | 'outside'
  /** It is written as if it lay inside. */
  | 'leads-outside'
  | 'carved'
  | 'read-only'
  | 'project-file'
  /** What lies there cannot be known now. */
  | 'silent'
  /** Not a text that means one place. */
  | 'ambiguous'
  /** One of more than are looked at for one call. */
  | 'uncounted'
  /** A person could give it. */
  | NotGiven;

/** Why a person has not given what could be given. */
export type NotGiven =
  | 'refused'
  /** Nobody can be asked now. */
  | 'no-agent'
  /** In time. */
  | 'no-answer'
  | 'too-many'
  /** The daemon has gone meanwhile. */
  | 'no-daemon';

/** `work`: something in it is changed, but not the place itself as a whole. */
export type Use = 'read' | 'work' | 'write';

/** What a session is held to: the places that it may use, and how. */
export class HeldPlaces {
  readonly entries: readonly BoundaryEntry[];
  readonly #places: Enclosures;
  readonly #access: ReadonlyMap<string, BoundaryEntry['access']>;
  readonly #carved: readonly string[];

  constructor(entries: readonly BoundaryEntry[]) {
    this.entries = entries;
    this.#places = createBoundary(entries.map(({ path }) => path as RealPath));
    this.#access = new Map(entries.map(({ path, access }) => [path, access]));
    this.#carved = [...new Set(entries.flatMap(({ carved }) => carved))];
  }

  /** Is there any place that may be changed? */
  get holdsWritable(): boolean {
    return this.entries.some(({ access }) => access === 'read-write');
  }

  /** May this be used so? null: yes. */
  objectionTo(place: RealPath, use: Use): Objection | null {
    const holder = this.#places.enclosing(place);
    if (holder === undefined) return 'outside';
    if (isCarved(place, this.#carved)) return 'carved';
    if (use === 'read') return null;
    if (this.#access.get(holder) !== 'read-write') return 'read-only';
    if (this.#isProjectFile(place)) return 'project-file';
    return !this.#mayBeWorkedIn(place, use) && carvedInside(place, this.#carved).length > 0 ? 'carved' : null;
  }

  /** Does the text, links not followed, name something inside? A name that is cut out is so whatever lies there. */
  objectionToText(path: string): Objection | null {
    const plain = posix.normalize(path) as RealPath;
    if (this.#places.enclosing(plain) === undefined) return 'outside';
    return isCarved(plain, this.#carved) ? 'carved' : null;
  }

  /** Project files that go along, if they are there, where a place is used so. */
  projectFilesIn(place: RealPath, use: Use): readonly string[] {
    if (use === 'read' || this.#mayBeWorkedIn(place, use)) return [];
    return this.entries
      .map(({ path }) => posix.join(path, PROJECT_FILE))
      .filter((file) => isInside(file as RealPath, place));
  }

  /** Who may change what a project file says of its root could widen that. */
  #isProjectFile(place: RealPath): boolean {
    return this.entries.some(({ path }) => place === posix.join(path, PROJECT_FILE));
  }

  /** A directory that is moved takes along what it holds; a root that a call only works in stays. */
  #mayBeWorkedIn(place: RealPath, use: Use): boolean {
    return use === 'work' && this.#access.has(place);
  }
}
