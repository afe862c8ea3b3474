import type { Stats } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { MAX_LINKS } from '../core/path.ts';
import { componentsOf } from '../core/pattern.ts';

/** One directory that a lookup went through, and the entry it took there. */
export interface WalkStep {
  readonly directory: string;
  readonly directoryStats: Stats;
  readonly entry: string;
  readonly entryStats: Stats;
}

export interface Walked {
  readonly steps: readonly WalkStep[];
  /** The path without links, and what stands there. */
  readonly path: string;
  readonly stats: Stats;
}

/** Walks paths as the kernel does, and remembers for one reading what it saw. */
export class PathWalk {
  readonly #seen = new Map<string, Stats>();

  /** All directories in which someone who may write could have changed what `path` leads to, links included. */
  async walk(path: string): Promise<Walked> {
    const steps: WalkStep[] = [];
    const rest = componentsOf(path);
    let at = '/';
    let links = 0;
    for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
      if (part === '..') {
        at = dirname(at);
        continue;
      }
      const entry = join(at, part);
      const entryStats = await this.#stats(entry);
      steps.push({ directory: at, directoryStats: await this.#stats(at), entry, entryStats });
      if (!entryStats.isSymbolicLink()) {
        at = entry;
        continue;
      }
      links += 1;
      if (links > MAX_LINKS) throw Object.assign(new Error(`Too many links in "${path}"`), { code: 'ELOOP' });
      const target = await readlink(entry);
      rest.unshift(...componentsOf(target));
      if (target.startsWith('/')) at = '/';
    }
    return { steps, path: at, stats: await this.#stats(at) };
  }

  async #stats(path: string): Promise<Stats> {
    const known = this.#seen.get(path);
    if (known !== undefined) return known;
    const stats = await lstat(path);
    this.#seen.set(path, stats);
    return stats;
  }
}
