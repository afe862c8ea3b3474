// What is known of servers while the daemon runs. As with a layer, a broken file changes nothing and is said; one that is gone
// says nothing any more.

import type { Catalogue } from '../core/catalogue.ts';
import type { Problem } from '../core/errors.ts';
import {
  type CataloguesOptions,
  cataloguePlaces,
  readCatalogueFiles,
  readWholeCatalogue,
  type WholeCatalogue,
} from './read-catalogues.ts';

export class KnownServers {
  /** Where it is read from, beside what comes with us. */
  readonly paths: readonly string[];
  readonly #options: CataloguesOptions;
  readonly #shipped: Catalogue;
  /** What each file said when it was last good. */
  #good: ReadonlyMap<string, Catalogue>;
  #problems: readonly Problem[] = [];
  #servers: Catalogue;
  /** One after the other: the later one has the newer files. */
  #reading: Promise<unknown> = Promise.resolve();

  private constructor(options: CataloguesOptions, { files, shipped, servers }: WholeCatalogue) {
    this.#options = options;
    this.paths = cataloguePlaces(options).map(({ path }) => path);
    this.#shipped = shipped;
    this.#good = new Map(files.map(({ path, servers }) => [path, servers]));
    this.#servers = servers;
  }

  /** Reads it for the first time. Rejects with a RootsError CATALOGUE_INVALID. */
  static async open(options: CataloguesOptions): Promise<KnownServers> {
    return new KnownServers(options, await readWholeCatalogue(options));
  }

  get servers(): Catalogue {
    return this.#servers;
  }

  /** What is wrong with files of which an older reading is in force. */
  get problems(): readonly Problem[] {
    return this.#problems;
  }

  /** Reads the files again. Is something else in force, or wrong, than before? */
  reload(): Promise<boolean> {
    const done = this.#reading.then(() => this.#read());
    this.#reading = done;
    return done;
  }

  async #read(): Promise<boolean> {
    const before = JSON.stringify([this.#servers, this.#problems]);
    const good = new Map<string, Catalogue>();
    const problems: Problem[] = [];
    for (const { path, read } of await readCatalogueFiles(this.#options)) {
      const servers = read.state === 'good' ? read.servers : read.state === 'broken' ? this.#good.get(path) : undefined;
      if (servers !== undefined) good.set(path, servers);
      if (read.state === 'broken') problems.push(...read.problems);
    }
    this.#good = good;
    this.#problems = problems;
    this.#servers = [...[...good.values()].flat(), ...this.#shipped];
    return JSON.stringify([this.#servers, problems]) !== before;
  }
}
