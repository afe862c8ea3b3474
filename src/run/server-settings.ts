import { RootsError } from '../core/errors.ts';
import type { SettingsList } from './launch.ts';
import type { SettingsFile } from './settings-file.ts';

/** The file of settings that carries the boundary, where there is one: what edits it is loaded only then. */
export class ServerSettings {
  readonly #warn: (sentence: string) => void;
  #held: { readonly channel: SettingsList['channel']; readonly file: SettingsFile } | null = null;

  constructor(warn: (sentence: string) => void) {
    this.#warn = warn;
  }

  /** Writes the list, or puts back what was. Rejects with a RootsError SETTINGS_FAILED. */
  async apply(list: SettingsList | null): Promise<void> {
    if (list === null) return this.release();
    const { channel } = list;
    await attempt(channel.path, async () => {
      if (this.#held === null || JSON.stringify(this.#held.channel) !== JSON.stringify(channel)) {
        await this.release();
        const { SettingsFile } = await import('./settings-file.ts');
        this.#held = { channel, file: new SettingsFile(channel, this.#warn) };
      }
      await this.#held.file.hold(list);
    });
  }

  /** Puts back what was. Rejects with a RootsError SETTINGS_FAILED. */
  async release(): Promise<void> {
    const held = this.#held;
    this.#held = null;
    if (held !== null) await attempt(held.channel.path, () => held.file.release());
  }
}

async function attempt(path: string, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    throw error instanceof RootsError
      ? error
      : new RootsError('SETTINGS_FAILED', { path, what: (error as Error).message }, { cause: error });
  }
}
