// rootsd.yaml while the daemon runs: a broken one changes nothing and is said; of a good one the log's level holds at
// once, the rest from the next start on.

import { dirname, join } from 'node:path';
import { CONFIG_NAME } from '../core/directories.ts';
import type { Problem } from '../core/errors.ts';
import type { LogLevel } from '../core/log-event.ts';
import { LOG_EVENTS } from '../core/log-event.ts';
import type { Part } from '../daemon/open-parts.ts';
import { type ConfigRead, readConfig } from '../policy/read-config.ts';
import { defaultSettings, type Settings } from '../policy/settings.ts';
import { openPolicyWatcher, type PolicyWatcher } from '../policy/watch-policies.ts';
import type { Log } from '../system/log.ts';
import type { Machine } from './machine.ts';

export interface WatchedConfigOptions {
  readonly machine: Machine;
  /** As they were read at the start. */
  readonly settings: Settings;
  readonly log: Log;
  readonly setLevel: (level: LogLevel) => void;
}

export class WatchedConfig implements Part {
  readonly #options: WatchedConfigOptions;
  readonly #path: string;
  readonly #watcher: PolicyWatcher;
  #problems: readonly Problem[] = [];

  constructor(options: WatchedConfigOptions) {
    const { configPath, policyDirectories } = options.machine;
    this.#options = options;
    this.#path = configPath ?? join(dirname(policyDirectories.user), CONFIG_NAME);
    this.#watcher = openPolicyWatcher({
      directories: [],
      files: [this.#path],
      onChange: () => void this.#read(),
      onWarning: (error) => options.log('warn', LOG_EVENTS.watchFallback, { error }),
    });
  }

  /** What is wrong with the file now, while an older reading of it is in force. */
  get problems(): readonly Problem[] {
    return this.#problems;
  }

  close(): void {
    this.#watcher.close();
  }

  async #read(): Promise<void> {
    const { expansions, policyDirectories, uid, home } = this.#options.machine;
    const trust = { layer: 'user', uid, home } as const;
    this.#take(await readConfig(this.#path, { expansions, policyDirectories, trust }));
  }

  #take(read: ConfigRead): void {
    const { machine, log, setLevel } = this.#options;
    this.#problems = read.state === 'broken' ? read.problems : [];
    if (read.state === 'broken') {
      log('warn', LOG_EVENTS.configRejected, { file: this.#path, error: read.error });
      return;
    }
    const settings = read.state === 'good' ? read.settings : defaultSettings(machine.policyDirectories);
    setLevel(settings.log.level);
    log('info', LOG_EVENTS.configRead, { file: this.#path, atNextStart: this.#waiting(settings) });
  }

  /** Settings that differ from those in force and wait for the next start. */
  #waiting(settings: Settings): readonly string[] {
    const { log: _now, ...inForce } = this.#options.settings;
    return Object.entries(inForce).flatMap(([name, value]) =>
      JSON.stringify(value) === JSON.stringify(settings[name as keyof Settings]) ? [] : [name],
    );
  }
}
