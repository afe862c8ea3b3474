// What `rootsd check` looks at: the layers of this machine, or the files and directories that are named.

import { stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { CONFIG_NAME } from '../core/directories.ts';
import { type Problem, RootsError } from '../core/errors.ts';
import type { LayerPolicy } from '../core/policy.ts';
import { failedTests } from '../daemon/layers.ts';
import { CATALOGUE_NAME, readCatalogues } from '../daemon/read-catalogues.ts';
import { PROJECT_FILE } from '../disk/project-file.ts';
import { builtInLayer } from '../policy/built-in.ts';
import { type LayerListing, type ListedFile, listLayer } from '../policy/list-layer.ts';
import { hasErrors } from '../policy/problem-order.ts';
import { readCatalogue } from '../policy/read-catalogue.ts';
import { type ConfigRead, readConfig } from '../policy/read-config.ts';
import { type LayerRead, readLayer, readPolicyFiles } from '../policy/read-layer.ts';
import { checkProject } from '../policy/read-project.ts';
import { defaultSettings, type Settings } from '../policy/settings.ts';
import { cataloguesOf, ownPlacesOf } from './evaluate-files.ts';
import type { Io } from './io.ts';
import type { Machine } from './machine.ts';
import { warnIfElsewhere } from './warn-elsewhere.ts';

export interface Checked {
  readonly files: readonly ListedFile[];
  readonly problems: readonly Problem[];
  /** rootsd.yaml itself is broken: nothing else could be found by it. */
  readonly isConfigBroken: boolean;
  /** Where policies were looked for; empty where files were named. */
  readonly directories: readonly string[];
}

/** Checks rootsd.yaml, the catalogues and the system and user layers, each under the layers above it. */
export async function checkMachine(machine: Machine, io: Io): Promise<Checked> {
  const config = machine.configPath === null ? null : await readMachineConfig(machine, machine.configPath);
  const settings = settingsFrom(config, machine);
  await warnIfElsewhere(machine, settings, io);
  const builtIn = builtInOf(machine, settings);
  const system = await checkLayer(machine, { layer: 'system', settings, upper: [builtIn] });
  const upper = system.policy === null ? [builtIn] : [builtIn, system.policy];
  const user = await checkLayer(machine, { layer: 'user', settings, upper, isIncomplete: system.isBroken });
  const catalogues = await checkCatalogues(machine, settings);
  const parts = [...(config === null ? [] : [config]), catalogues, system, user];
  return {
    files: parts.flatMap(({ files }) => files),
    problems: parts.flatMap(({ problems }) => problems),
    isConfigBroken: config?.isBroken ?? false,
    directories: [settings.layers.system, settings.layers.user],
  };
}

/**
 * Checks what is named on the command line: policies together as one layer, rootsd.yaml, servers.yaml and .rootsd.yaml by
 * name.
 */
export async function checkPaths(machine: Machine, paths: readonly string[], io: Io): Promise<Checked> {
  const named = await Promise.all(paths.map((path) => kindOfPath(resolve(io.cwd(), path), path)));
  const of = (kind: NamedKind) => named.filter((one) => one.kind === kind).map(({ path }) => path);
  const configs = await Promise.all(of('config').map((path) => readMachineConfig(machine, path, 'warning')));
  const projects = of('project').map((path) => checkProjectFile(path));
  const catalogues = await Promise.all(of('catalogue').map((path) => checkCatalogue(machine, path)));
  const listings = await Promise.all(of('directory').map((path) => listLayer(path)));
  const listing = joinListings([...listings, { policies: of('policy'), ignored: [], problems: [] }]);
  const layer = await checkListing(machine, listing);
  const parts = [...configs, ...catalogues, ...projects, layer];
  return {
    files: parts.flatMap(({ files }) => files),
    problems: parts.flatMap(({ problems }) => problems),
    isConfigBroken: configs.some(({ isBroken }) => isBroken),
    directories: [],
  };
}

interface Part {
  readonly files: readonly ListedFile[];
  readonly problems: readonly Problem[];
  readonly isBroken: boolean;
}

type NamedKind = 'policy' | 'config' | 'catalogue' | 'project' | 'directory';

async function kindOfPath(path: string, given: string): Promise<{ readonly path: string; readonly kind: NamedKind }> {
  const stats = await stat(path).catch(() => null);
  if (stats === null) throw missing(given);
  if (stats.isDirectory()) return { path, kind: 'directory' };
  const name = basename(path);
  if (name === PROJECT_FILE) return { path, kind: 'project' };
  if (name === CATALOGUE_NAME) return { path, kind: 'catalogue' };
  return { path, kind: name === CONFIG_NAME ? 'config' : 'policy' };
}

function missing(path: string): RootsError {
  return new RootsError('USAGE', { what: `Cannot check "${path}": it is not there` });
}

function joinListings(listings: readonly LayerListing[]): LayerListing {
  return {
    policies: [...new Set(listings.flatMap(({ policies }) => policies))],
    ignored: listings.flatMap(({ ignored }) => ignored),
    problems: listings.flatMap(({ problems }) => problems),
  };
}

interface ConfigPart extends Part {
  readonly read: ConfigRead;
}

async function readMachineConfig(
  machine: Machine,
  path: string,
  severity: 'error' | 'warning' = 'error',
): Promise<ConfigPart> {
  const { expansions, policyDirectories, uid, home } = machine;
  const trust = { layer: 'user', uid, home, severity } as const;
  const read = await readConfig(path, { expansions, policyDirectories, trust });
  if (read.state === 'absent') throw missing(path);
  const isBroken = read.state === 'broken';
  return { read, problems: read.problems, isBroken, files: [{ path, state: isBroken ? 'broken' : 'ok' }] };
}

function settingsFrom(config: ConfigPart | null, machine: Machine): Settings {
  return config?.read.state === 'good' ? config.read.settings : defaultSettings(machine.policyDirectories);
}

async function checkCatalogues(machine: Machine, settings: Settings): Promise<Part> {
  const { files, problems } = await readCatalogues(cataloguesOf(machine, settings));
  return { files, problems, isBroken: files.some(({ state }) => state === 'broken') };
}

async function checkCatalogue({ expansions, uid, home }: Machine, path: string): Promise<Part> {
  const trust = { layer: 'user', uid, home, severity: 'warning' } as const;
  const read = await readCatalogue(path, { expansions, trust });
  if (read.state === 'absent') throw missing(path);
  const isBroken = read.state === 'broken';
  return { problems: read.problems, isBroken, files: [{ path, state: isBroken ? 'broken' : 'ok' }] };
}

function checkProjectFile(path: string): Part {
  const problems = checkProject(dirname(path));
  const isBroken = hasErrors(problems);
  return { problems, isBroken, files: [{ path, state: isBroken ? 'broken' : 'ok' }] };
}

interface LayerQuestion {
  readonly layer: 'system' | 'user';
  readonly settings: Settings;
  readonly upper: readonly LayerPolicy[];
  readonly isIncomplete?: boolean;
}

async function checkLayer(machine: Machine, question: LayerQuestion): Promise<Part & { policy: LayerPolicy | null }> {
  const { layer, settings, upper, isIncomplete = false } = question;
  const { expansions, uid, home } = machine;
  const listeners = settings.listeners.map(({ name }) => name);
  const options = { layer, expansions, trust: { uid, home }, upper, listeners, isIncomplete };
  const read = await readLayer({ ...options, directory: settings.layers[layer] });
  return judge(read);
}

/** The machine's own layers say nothing about files that are named: the same answer on every machine. */
async function checkListing(machine: Machine, listing: LayerListing): Promise<Part> {
  const upper = [builtInOf(machine, defaultSettings(machine.policyDirectories))];
  const { expansions, uid, home } = machine;
  const trust = { uid, home, severity: 'warning' } as const;
  return judge(await readPolicyFiles(listing, { layer: 'user', expansions, trust, upper }));
}

function judge(read: LayerRead): Part & { policy: LayerPolicy | null } {
  if (read.state === 'absent') return { files: [], problems: [], isBroken: false, policy: null };
  if (read.state === 'broken') return { files: read.listing, problems: read.problems, isBroken: true, policy: null };
  const failed = failedTests(read.results);
  const inFailed = new Set(failed.map(({ file }) => file));
  const files = read.listing.map((file): ListedFile => (inFailed.has(file.path) ? { ...file, state: 'broken' } : file));
  return { files, problems: [...read.problems, ...failed], isBroken: failed.length > 0, policy: read.policy };
}

function builtInOf(machine: Machine, settings: Settings): LayerPolicy {
  return builtInLayer({ expansions: machine.expansions, own: ownPlacesOf(machine, settings) });
}
