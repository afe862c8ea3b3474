import { EventEmitter, once } from 'node:events';
import type { TestContext } from 'node:test';
import type { RootsError } from '../../src/core/errors.ts';
import type { RealPath } from '../../src/core/path.ts';
import { ANY, type PathPattern, parsePolicyPath } from '../../src/core/pattern.ts';
import type { ProjectFile, RootFacts } from '../../src/core/place.ts';
import type { RootDeclaration } from '../../src/core/policy.ts';
import { type Clock, SYSTEM_CLOCK } from '../../src/disk/clock.ts';
import { openRootWatcher, type RootWatcher, type RootWatcherOptions } from '../../src/disk/watch-roots.ts';

const EXPANSIONS = { home: '/home/ana', user: 'ana', uid: 1000, hostname: 'box' };

/** A path as a policy writes it. */
export function pattern(text: string): PathPattern {
  const parsed = parsePolicyPath(text, EXPANSIONS, { stars: true });
  if (!parsed.ok) throw new Error(`${text} ${parsed.why}`);
  return parsed.pattern;
}

/** A declared root with the defaults of the policy language. */
export function declare(name: string, path: string, more: Partial<RootDeclaration> = {}): RootDeclaration {
  return {
    name,
    path: pattern(path),
    having: [],
    kind: 'directory',
    symlinks: 'inside',
    nested: 'withhold',
    sensitive: false,
    source: { layer: 'user', file: 'test.yaml', line: 1, column: 1 },
    ...more,
  };
}

/** A watcher under test, with what it has told. */
export class Watching {
  readonly watcher: RootWatcher;
  readonly warnings: RootsError[] = [];
  readonly projectReads: RealPath[] = [];
  changes = 0;
  readonly #events = new EventEmitter();

  constructor(t: Pick<TestContext, 'after'>, options: Partial<RootWatcherOptions>) {
    this.watcher = openRootWatcher({
      declarations: [],
      patterns: [],
      readProject: (root) => this.#readProject(root),
      onChange: () => {
        this.changes += 1;
        this.#events.emit('change');
      },
      onWarning: (warning) => this.warnings.push(warning),
      ...options,
    });
    // A watcher keeps no process alive, not even one that waits for it.
    const alive = setInterval(() => {}, 60_000);
    t.after(() => {
      clearInterval(alive);
      this.watcher.close();
    });
  }

  root(name: string): RootFacts {
    const found = this.watcher.places().roots.find((root) => root.name === name);
    if (found === undefined) throw new Error(`There is no root ${name}`);
    return found;
  }

  names(): readonly string[] {
    return this.watcher.places().roots.map(({ name }) => name);
  }

  /** The forms of each pattern, as text. */
  resolved(): Readonly<Record<string, readonly string[]>> {
    const texts = [...this.watcher.places().resolved].map(([key, forms]) => [key, forms.map(textOf).sort()] as const);
    return Object.fromEntries(texts);
  }

  /** Resolves when it tells the next change. */
  nextChange(): Promise<unknown> {
    return once(this.#events, 'change');
  }

  /** Waits for changes until the places are as they should be. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await this.nextChange();
  }

  #readProject(root: RealPath): ProjectFile {
    this.projectReads.push(root);
    return { state: 'good', file: `${root}/.rootsd.yaml`, ask: false, deny: [] };
  }
}

function textOf({ components }: PathPattern): string {
  return `/${components.map((part) => (part === ANY ? '*' : part)).join('/')}`;
}

/** The real time, but for sweeps other than the first: what a test sees then, the kernel has hinted at. */
export const HINTS_ONLY: Clock = {
  ...SYSTEM_CLOCK,
  after: (delayMs, run) => (delayMs >= 2_000 ? () => {} : SYSTEM_CLOCK.after(delayMs, run)),
};
