// What the daemon would decide, from the files alone: for `explain`, `roots` and `test` where no daemon answers, and to
// show the effect of an edit before it is written.

import { dirname } from 'node:path';
import { controlSocketOf } from '../client/find-socket.ts';
import type { Catalogue } from '../core/catalogue.ts';
import type { Problem } from '../core/errors.ts';
import { type Evidence, gatherEvidence } from '../core/evidence.ts';
import { type Policy, pathsOf } from '../core/policy.ts';
import type { Layers } from '../daemon/layers.ts';
import { createLayers } from '../daemon/open-layers.ts';
import { type CataloguesOptions, cataloguePath, readCatalogues } from '../daemon/read-catalogues.ts';
import { openRootWatcher } from '../disk/watch-roots.ts';
import { readProject } from '../policy/read-project.ts';
import type { Settings } from '../policy/settings.ts';
import type { Machine } from './machine.ts';
import { packageFile } from './package-file.ts';
import { readSettings } from './read-settings.ts';

export interface Evaluated {
  readonly evidence: Evidence;
  readonly layers: Layers;
  readonly catalogue: Catalogue;
  readonly problems: readonly Problem[];
}

/** Reads the layers of this machine and looks at the places they name, once. */
export async function evaluateFiles(machine: Machine): Promise<Evaluated> {
  const settings = await readSettings(machine);
  const layers = machineLayers(machine, settings);
  const [catalogues] = await Promise.all([readCatalogues(cataloguesOf(machine, settings)), layers.reload()]);
  const problems = [...catalogues.problems, ...layers.problems];
  return { evidence: lookAtPlaces(layers.policy), layers, catalogue: catalogues.servers, problems };
}

/** Where the catalogue of this machine is. */
export function cataloguesOf({ expansions, uid }: Machine, { layers }: Settings): CataloguesOptions {
  return { expansions, uid, layers, shipped: packageFile('config/servers.yaml') };
}

/** The layers of this machine without a memory: a command that only looks restores and keeps nothing. */
export function machineLayers(machine: Machine, settings: Settings): Layers {
  const { expansions, uid } = machine;
  const directories = settings.layers;
  const listeners = settings.listeners.map(({ name }) => name);
  const own = ownPlacesOf(machine, settings);
  return createLayers({ expansions, uid, directories, own, listeners, lastGood: null, now: Date.now });
}

/**
 * Configuration, policies, state and sockets: no root may expose them. Only what is ours: a file or directory that was
 * named on the command line may lie among other people's things.
 */
export function ownPlacesOf(machine: Machine, settings: Settings): readonly string[] {
  const { configPath, policyDirectories, stateDirectory, runtimeDirectory, search } = machine;
  const sockets = search.explicit === undefined ? [] : [search.explicit, controlSocketOf(search.explicit)];
  const named = [
    ...(configPath === null ? [] : [configPath]),
    settings.layers.user,
    settings.layers.system,
    cataloguePath(settings.layers.user),
    cataloguePath(settings.layers.system),
    ...sockets,
  ];
  return [...new Set([...named, dirname(policyDirectories.user), stateDirectory, runtimeDirectory])];
}

/** The places of a policy as they are now, and what of it has not ended. */
export function lookAtPlaces(policy: Policy): Evidence {
  const watcher = openRootWatcher({
    declarations: policy.roots,
    patterns: pathsOf(policy),
    readProject,
    onChange: () => {},
    onWarning: () => {},
  });
  try {
    return gatherEvidence(policy, watcher.places(), Date.now());
  } finally {
    watcher.close();
  }
}
