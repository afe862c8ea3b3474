import { readConfig } from '../policy/read-config.ts';
import { defaultSettings, type Settings } from '../policy/settings.ts';
import type { Machine } from './machine.ts';

/** The settings of this machine's rootsd.yaml, or the defaults. Throws a RootsError CONFIG_* with the first problem. */
export async function readSettings(machine: Machine): Promise<Settings> {
  const { configPath, expansions, policyDirectories, uid, home } = machine;
  if (configPath === null) return defaultSettings(policyDirectories);
  const read = await readConfig(configPath, { expansions, policyDirectories, trust: { layer: 'user', uid, home } });
  if (read.state === 'absent') return defaultSettings(policyDirectories);
  if (read.state === 'broken') throw read.error;
  return read.settings;
}
