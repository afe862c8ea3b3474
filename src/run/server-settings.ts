import { RootsError } from '../core/errors.ts';
import type { SettingsList } from './launch.ts';
import type { SettingsFile } from './settings-file.ts';

/** The file of settings that carries the boundary, where there is one: what edits it is loaded only then. */
export class ServerSettings {
  #held: { readonly path: string; readonly file: SettingsFile } | null = null;

  /** Writes the list, or puts back what was. Rejects with a RootsError SETTINGS_FAILED. */
  async apply(list: SettingsList | null): Promise<void> {
    if (list === null) return this.release();
    const { channel } = list;
    await attempt(channel.path, async () => {
      if (this.#held?.path !== channel.path) {
        await this.release();
        const { SettingsFile } = await import('./settings-file.ts');
        this.#held = { path: channel.path, file: new SettingsFile(channel) };
      }
      await this.#held.file.hold(list);
    });
  }

  /** Puts back what was. Rejects with a RootsError SETTINGS_FAILED. */
  async release(): Promise<void> {
    const held = this.#held;
    this.#held = null;
    if (held !== null) await attempt(held.path, () => held.file.release());
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
