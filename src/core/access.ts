/** What a rule grants or a root allows at most. Writing needs `read-write`. */
export type Access = 'read-only' | 'read-write';

/** In `_meta` of a root on the wire: its access. */
export const ACCESS_META = 'io.rootsd/access';
/** The access of a directory that stands for an empty list: whoever reads it need not take that for a place. */
export const NO_ACCESS = 'none';

/** The lower of two caps; undefined is "no cap". */
export function lowerAccess(a: Access | undefined, b: Access | undefined): Access | undefined {
  if (a === undefined) return b;
  if (b === undefined) return a;
  return a === 'read-only' || b === 'read-only' ? 'read-only' : 'read-write';
}

/** The higher of two grants; null is "nothing". */
export function higherAccess(a: Access | null, b: Access | null): Access | null {
  if (a === null) return b;
  if (b === null) return a;
  return a === 'read-write' || b === 'read-write' ? 'read-write' : 'read-only';
}
