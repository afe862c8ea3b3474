import type { Access } from './access.ts';
import type { PathPattern } from './pattern.ts';

export type Effect = 'allow' | 'ask' | 'deny';
export const LAYERS = ['built-in', 'system', 'user', 'project'] as const;
export type Layer = (typeof LAYERS)[number];

/** Where something is written: what a decision names, so that a person finds it. */
export interface Source {
  readonly layer: Layer;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** An item of `allow`, `ask`, `deny` or `except`. */
export type Target =
  /** `member`: the one member of a pattern root, else all of it. `place`: where it is, kept for deny and except,
   * so that a deny by name holds also when an upper layer has dropped the root. */
  | { readonly kind: 'root'; readonly root: string; readonly member?: string; readonly place: PathPattern }
  | { readonly kind: 'path'; readonly pattern: PathPattern };

export type UserSelector =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'uid'; readonly uid: number }
  | { readonly kind: 'group'; readonly group: string };

/** A name of a root, server, host, prompt or rule. Also a pattern of JSON Schema. */
export const NAME_PATTERN = '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$';

export function isName(text: string): boolean {
  return new RegExp(NAME_PATTERN).test(text);
}

/** A user as policies and command lines name one: a login name, `uid:N` or `%group`. Also a pattern of JSON Schema. */
export const USER_PATTERN = '^(?:uid:(?:0|[1-9][0-9]{0,9})|%?[^\\s%:,][^\\s:,]*)$';

/** Reads a name, `uid:N` or `%group`; null where it is none of these. */
export function parseUser(text: string): UserSelector | null {
  if (!new RegExp(USER_PATTERN).test(text)) return null;
  if (text.startsWith('uid:')) return { kind: 'uid', uid: Number(text.slice('uid:'.length)) };
  return text.startsWith('%') ? { kind: 'group', group: text.slice(1) } : { kind: 'name', name: text };
}

export interface Rule {
  readonly id: string;
  readonly effect: Effect;
  readonly targets: readonly Target[];
  readonly except: readonly Target[];
  /** undefined = any */
  readonly servers?: readonly string[];
  readonly hosts?: readonly string[];
  readonly users?: readonly UserSelector[];
  /** Meaningless on `deny`. */
  readonly access: Access;
  readonly reason?: string;
  /** Of `allow`: when it ends, ms since 1970. */
  readonly untilMs?: number;
  /** Of `ask`: `once`, `session`, `always`, `<n>m`, `<n>h`. */
  readonly scopes: readonly string[];
  readonly mandatory: boolean;
  readonly approver: 'user' | 'admin';
  readonly source: Source;
}
