// May a server use a path that somebody asks it for? The answer is the canonical path, or an error whose text a model can
// act on. Nothing in it depends on whether a place outside exists, or where a link outside leads.

import { join } from 'node:path';
import type { Access } from '../core/access.ts';
import { allowedText, shownText } from '../core/allowed-text.ts';
import { type Code, RootsError } from '../core/errors.ts';
import { checkPathText, parseFileUri, type RealPath } from '../core/path.ts';
import { isSpecial } from '../disk/judge.ts';
import { PROJECT_FILE } from '../disk/project-file.ts';
import { resolvePath } from '../disk/resolve.ts';
import type { ToldList } from './told-list.ts';

/**
 * The canonical form of an absolute path or `file:` URI that may be used so. Throws a RootsError PATH_INVALID, PATH_OUTSIDE
 * or PATH_READ_ONLY.
 */
export function judgeTold(requestedPath: string, access: Access, list: ToldList): RealPath {
  const refuse = (code: Code, what = ''): RootsError =>
    new RootsError(code, { path: shownText(String(requestedPath)), what, allowed: allowedText(list.roots) });
  const named = pathOf(requestedPath);
  if (!named.ok) throw refuse('PATH_INVALID', named.why);
  const resolved = resolvePath(named.path);
  const root = resolved.ok ? list.places.enclosing(resolved.path) : undefined;
  if (!resolved.ok || root === undefined) throw refuse('PATH_OUTSIDE');
  if (resolved.stat !== null && isSpecial(resolved.stat)) throw refuse('PATH_INVALID', NOT_PLAIN);
  if (access === 'read-write' && (list.accessAt(root) !== 'read-write' || isProjectFile(resolved.path, list))) {
    throw refuse('PATH_READ_ONLY');
  }
  return resolved.path;
}

/** The path that a text names, links not followed yet. */
export function pathOf(requested: string): ReturnType<typeof parseFileUri> {
  // Arguments of a tool that nobody has held against a schema.
  if (typeof requested !== 'string') return { ok: false, why: 'is not a text' };
  if (requested.startsWith('file:')) return parseFileUri(requested);
  const fault = checkPathText(requested);
  return fault === null ? { ok: true, path: requested } : { ok: false, why: fault };
}

export const NOT_PLAIN = 'names neither a directory nor a regular file';

/** Whoever can change what a project file says of its root could widen that. */
function isProjectFile(path: RealPath, list: ToldList): boolean {
  return list.roots.some((root) => path === join(root.path, PROJECT_FILE));
}
