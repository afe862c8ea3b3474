import type { Access } from './access.ts';
import type { Decision } from './decision.ts';
import type { FileUri, RealPath } from './path.ts';

/** One root of a session with its decision, whether it is told or not. */
export interface ViewEntry {
  readonly root: string;
  readonly title: string;
  /** The real path where it is known, else the path as written. */
  readonly path: string;
  readonly decision: Decision;
  readonly available: boolean;
  readonly why: string;
}

/** A root that is told and enforced. */
export interface ToldRoot {
  readonly root: string;
  readonly title: string;
  readonly uri: FileUri;
  readonly path: RealPath;
  readonly identity: string;
  readonly access: Access;
  readonly carved: readonly string[];
}

/** The full, ordered result for one session. */
export interface View {
  readonly entries: readonly ViewEntry[];
  readonly told: readonly ToldRoot[];
}
