import { RootsError } from '../core/errors.ts';
import { readConfig } from '../policy/read-config.ts';
import { defaultSettings, type Settings } from '../policy/settings.ts';
import type { Machine } from './machine.ts';

/** The settings of this machine's rootsd.yaml, or the defaults. Throws a RootsError CONFIG_* with the first problem. */
export async function readSettings(machine: Machine): Promise<Settings> {
  const { configPath, isConfigNamed, expansions, policyDirectories, uid, home } = machine;
  if (configPath === null) return defaultSettings(policyDirectories);
  const read = await readConfig(configPath, { expansions, policyDirectories, trust: { layer: 'user', uid, home } });
  if (read.state === 'absent') {
    if (isConfigNamed) throw new RootsError('CONFIG_UNREADABLE', { file: configPath, what: 'it is not there' });
    return defaultSettings(policyDirectories);
  }
  if (read.state === 'broken') throw read.error;
  return read.settings;
}
