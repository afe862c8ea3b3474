// Names that a path which is being typed could go on with. Only of what lies in the roots: of a link that leads out, neither
// its name nor its target is told.

import type { Enclosures } from '../core/boundary.ts';
import { childOf, type RealPath, toFileUri } from '../core/path.ts';
import { byLength } from '../core/rank.ts';
import { type DirectoryEntry, listDirectory } from '../disk/list-directory.ts';
import { resolvePath } from '../disk/resolve.ts';
import { pathOf } from './judge-told.ts';
import type { ToldList } from './told-list.ts';

/**
 * Every whole value that begins with the text: a root, or an entry of a directory in one; directories end in `/`. Shorter
 * ones first, then by code point. To a `file:` URI the values are URIs.
 */
export function completePath(typed: string, list: ToldList): readonly string[] {
  if (typed.startsWith('file:')) {
    const named = pathOf(typed);
    return named.ok ? completePath(named.path, list).map((path) => toFileUri(path as RealPath)) : [];
  }
  const roots = list.roots.flatMap(({ path }) => wholePath(path));
  const begun = roots.filter((path) => path.startsWith(typed) && path !== typed);
  return [...new Set([...begun, ...entriesBelow(typed, list)])].sort(byLength);
}

function entriesBelow(typed: string, { places }: ToldList): readonly string[] {
  const start = typed.slice(0, typed.lastIndexOf('/') + 1);
  const resolved = resolvePath(start);
  if (!resolved.ok || places.enclosing(resolved.path) === undefined) return [];
  const directory = resolved.path;
  const values: string[] = [];
  for (const entry of listDirectory(directory)) {
    const { name } = entry;
    if (name === null || !`${start}${name}`.startsWith(typed)) continue;
    const isDirectory = entry.isLink ? leadsToDirectory(childOf(directory, name), places) : entry.isDirectory;
    if (isDirectory !== null) values.push(`${start}${name}${isDirectory ? '/' : ''}`);
  }
  return values;
}

/** Does a link lead to a directory? null: it leads out, or nowhere. */
function leadsToDirectory(link: string, places: Enclosures): DirectoryEntry['isDirectory'] | null {
  const resolved = resolvePath(link);
  if (!resolved.ok || resolved.stat === null || places.enclosing(resolved.path) === undefined) return null;
  return resolved.stat.isDirectory();
}

/** A root as a value; none where it is gone. */
function wholePath(root: string): readonly string[] {
  const resolved = resolvePath(root);
  if (!resolved.ok || resolved.stat === null) return [];
  return [resolved.stat.isDirectory() && root !== '/' ? `${root}/` : root];
}
