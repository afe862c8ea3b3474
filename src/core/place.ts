import type { Access } from './access.ts';
import type { RealPath } from './path.ts';
import type { PathPattern } from './pattern.ts';
import type { RootDeclaration } from './policy.ts';
import type { Source } from './rule.ts';

/** A place on the disk, pinned: canonical path and what tells it from a later one of the same name. */
export interface Place {
  readonly path: RealPath;
  /** `device:inode:birth` (birth in ns). */
  readonly identity: string;
}

/** A root's own `.rootsd.yaml`, read. */
export type ProjectFile =
  | {
      readonly state: 'good';
      readonly file: string;
      readonly access?: Access;
      readonly ask: boolean;
      readonly deny: readonly { readonly pattern: PathPattern; readonly source: Source }[];
    }
  | { readonly state: 'broken'; readonly file: string; readonly why: string };

/** A declared root, or one member of a pattern root, as the disk has it now. */
export interface RootFacts {
  /** `frontend`, `projects/x` */
  readonly name: string;
  readonly declaration: RootDeclaration;
  /** The path as written, `*` of a member replaced by its name. */
  readonly written: PathPattern;
  /** null: not there (or the disk was not asked: tests). */
  readonly place: Place | null;
  /** Usable now: there, of the right kind, readable by us. */
  readonly available: boolean;
  /** Why it is not available; empty if it is. */
  readonly unavailable: string;
  readonly project?: ProjectFile;
}

export interface RootName {
  /** Of the declared root. */
  readonly name: string;
  /** Is it written as `name/member`, which only a pattern root can be? */
  readonly hasMember: boolean;
  /** undefined: the root, or all its members. */
  readonly member: string | undefined;
}

/** Reads `projects`, `projects/*` (all members) or `projects/x`. */
export function parseRootName(text: string): RootName {
  const slash = text.indexOf('/');
  if (slash === -1) return { name: text, hasMember: false, member: undefined };
  const member = text.slice(slash + 1);
  return { name: text.slice(0, slash), hasMember: true, member: member === '*' ? undefined : member };
}

/** What the disk says about the places a policy names. Decisions are pure functions of policy, places and peer. */
export interface Places {
  readonly roots: readonly RootFacts[];
  /** For a pattern (by its expanded path text): the real places it names, where they differ from what is written. */
  readonly resolved: ReadonlyMap<string, readonly PathPattern[]>;
}
