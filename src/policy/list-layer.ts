// Which files of a directory are policy files (docs/policy.md, "Who may write a policy file"). What looks like one by mistake is an error.

import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Problem, problem, startOf } from '../core/errors.ts';

const POLICY_NAME = /^[0-9A-Za-z][0-9A-Za-z_-]*\.yaml$/;
const LOOKS_LIKE_POLICY = /\.(?:ya?ml|json)$/i;

export interface ListedFile {
  readonly path: string;
  /** `ok` and `broken` are read; `ignored`: hidden, a backup, something else. */
  readonly state: 'ok' | 'broken' | 'ignored';
}

export interface LayerListing {
  /** Policy files in the byte order of their names. */
  readonly policies: readonly string[];
  readonly ignored: readonly string[];
  readonly problems: readonly Problem[];
}

/** Lists a directory. Rejects with the error of the system. */
export async function listLayer(directory: string): Promise<LayerListing> {
  const entries = await readdir(directory, { withFileTypes: true });
  const policies: string[] = [];
  const ignored: string[] = [];
  const problems: Problem[] = [];
  for (const entry of entries.sort(byName)) {
    const path = join(directory, entry.name);
    if (!isPolicyLike(entry)) ignored.push(path);
    else if (POLICY_NAME.test(entry.name)) policies.push(path);
    else problems.push(problem('POLICY_FILE_NAME', startOf(path)));
  }
  return { policies, ignored, problems };
}

/** Names that count are ASCII, for which the order of code units is that of bytes. */
function byName(a: Dirent, b: Dirent): number {
  return a.name < b.name ? -1 : 1;
}

function isPolicyLike({ name }: Dirent): boolean {
  return !name.startsWith('.') && LOOKS_LIKE_POLICY.test(name);
}
