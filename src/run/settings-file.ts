// The config channel: a list in a file of the server's own settings, ours while a server runs, and as it was afterwards.
//
// A note beside the file says what it was and who has it. It is written before the file is, so that whoever comes next can
// put the file back after a session that was killed. Sessions that run at once share the file: the list is what each of them
// may use, so that none gets what only another may.
//
// INVARIANT: only what we have written is taken back, and only where it still stands there. Whoever changes the list, takes
// the file away or changes anything else in it meanwhile finds it so afterwards.

import { mkdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isInside } from '../core/boundary.ts';
import { asRealPath } from '../core/path.ts';
import { removeLeftovers, type WriteStep, writeDurably } from '../disk/durable-write.ts';
import { editValue, readValue, type ValuePlace } from './edit-list.ts';
import type { SettingsList } from './launch.ts';
import { alone, isLiving, type Owner, ownIdentity } from './settings-lock.ts';

/** A session with this file. */
interface Holder extends Owner {
  readonly paths: readonly string[];
}

interface Note {
  /** Where the list is in it. */
  readonly place: ValuePlace;
  /** The file as it would be without us; null: there would be none. */
  readonly original: string | null;
  /** What we may have written last: the second where we got that far. */
  readonly written: readonly string[];
  readonly holders: readonly Holder[];
}

/** What somebody else has done to the file since we wrote it: to our list, or to the file as a whole. */
type Foreign = 'list' | 'removed' | null;

/** How often we begin anew because somebody else has written the file while we were about to. */
const WRITE_TRIES = 5;

class ChangedMeanwhile extends Error {}

/** Throws plain Errors that say what is wrong: it is loaded apart from the rest, and their classes are not the same. */
export class SettingsFile {
  readonly #place: ValuePlace;
  readonly #warn: (sentence: string) => void;
  /** Links are the user's own affair and stay. */
  readonly #path: string;
  readonly #note: string;
  readonly #lock: string;

  constructor({ path, key, format }: SettingsList['channel'], warn: (sentence: string) => void) {
    this.#place = { key, format };
    this.#warn = warn;
    this.#path = realPlace(path);
    const beside = join(dirname(this.#path), `.${basename(this.#path)}.rootsd`);
    this.#note = `${beside}.json`;
    this.#lock = `${beside}.lock`;
  }

  /** Makes the list ours, or another one; rejects where the file cannot be used, and then it is as it was. */
  async hold({ paths, isGrant }: SettingsList): Promise<void> {
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    await this.#alone(async () => {
      const note = this.#readNote();
      const others = note?.holders.filter(isOther) ?? [];
      if (note !== null && others.length > 0 && !isDeepStrictEqual(note.place, this.#place)) {
        throw new Error(`another session of this server has its list elsewhere in it (process ${pidsOf(others)})`);
      }
      const present = readText(this.#path);
      // Who left the note may have been killed before it could put the file back.
      const { text: original, foreign } = note === null ? { text: present, foreign: null } : without(note, present);
      if (foreign === 'list') {
        this.#warn(`${this.#list} was changed while a server of rootsd ran: it will be so again when none does`);
      }
      const written = editValue(original ?? '', this.#place, sharedList({ paths, isGrant }, others));
      const holders = [...others, { ...ownIdentity(), paths }];
      const ours = note !== null && foreign === null && present !== null && present !== original ? [present] : [];
      await this.#writeNote({ place: this.#place, original, written: [...ours, written], holders });
      await this.#write(written, present);
    });
  }

  /** Puts the file back, unless other sessions have it. What somebody else has changed in it meanwhile stays. */
  async release(): Promise<void> {
    await this.#alone(async () => {
      const note = this.#readNote();
      if (note === null) return;
      const others = note.holders.filter(isOther);
      if (others.length > 0) return this.#writeNote({ ...note, holders: others });
      const present = readText(this.#path);
      const { text, foreign } = without(note, present);
      if (foreign !== null)
        this.#warn(`${FOREIGN[foreign](this.#list, this.#path)} while the server ran, and stays so`);
      if (text !== null) await this.#write(text, present);
      else if (present !== null) this.#remove(present);
      rmSync(this.#note, { force: true });
    });
  }

  get #list(): string {
    return `"${this.#place.key.join('.')}" in "${this.#path}"`;
  }

  /** Runs `act` while no other session does, anew where somebody else has changed the file under it. */
  async #alone(act: () => Promise<void>): Promise<void> {
    await alone(this.#lock, async () => {
      for (const file of [this.#path, this.#note]) removeLeftovers(file);
      for (let tries = 1; ; tries++) {
        try {
          return await act();
        } catch (error) {
          if (!(error instanceof ChangedMeanwhile)) throw error;
          if (tries === WRITE_TRIES) throw new Error('it changes faster than it can be written');
        }
      }
    });
  }

  /** Writes the file where it still is what was read, to the last moment before. */
  async #write(text: string, present: string | null): Promise<void> {
    if (text === present) return;
    const mode = statSync(this.#path, { throwIfNoEntry: false })?.mode ?? 0o600;
    const onStep = (step: WriteStep): void => {
      if (step === 'rename') this.#mustBe(present);
    };
    await writeDurably(this.#path, text, { mode: mode & 0o777, onStep });
  }

  #remove(present: string): void {
    this.#mustBe(present);
    rmSync(this.#path, { force: true });
  }

  #mustBe(present: string | null): void {
    if (readText(this.#path) !== present) throw new ChangedMeanwhile();
  }

  #readNote(): Note | null {
    const text = readText(this.#note);
    if (text === null) return null;
    try {
      return JSON.parse(text) as Note;
    } catch {
      throw new Error(`its note "${this.#note}" is broken: remove it once the file is as it should be`);
    }
  }

  async #writeNote(note: Note): Promise<void> {
    await writeDurably(this.#note, `${JSON.stringify(note)}\n`);
  }
}

const FOREIGN: Readonly<Record<'list' | 'removed', (list: string, path: string) => string>> = {
  list: (list) => `${list} was changed`,
  removed: (_list, path) => `"${path}" was removed`,
};

/** The file as it would be without us. */
function without(
  { place, original, written }: Note,
  present: string | null,
): { readonly text: string | null; readonly foreign: Foreign } {
  if (present === original) return { text: original, foreign: null };
  if (present === null) return { text: null, foreign: 'removed' };
  if (written.includes(present)) return { text: original, foreign: null };
  const value = readValue(present, place);
  if (!written.some((ours) => isDeepStrictEqual(readValue(ours, place), value)))
    return { text: present, foreign: 'list' };
  return { text: editValue(present, place, original === null ? undefined : readValue(original, place)), foreign: null };
}

/**
 * What all that have the file may use. Where nothing is allowed at all, the empty directory that stands for it is as much as
 * any other session may have, too.
 */
function sharedList(
  { paths, isGrant }: Pick<SettingsList, 'paths' | 'isGrant'>,
  others: readonly Holder[],
): readonly string[] {
  const shared = others.reduce<readonly string[]>((list, other) => intersect(list, other.paths), paths);
  if (shared.length > 0) return shared;
  if (!isGrant) return paths;
  throw new Error(`another session of this server (process ${pidsOf(others)}) uses it for other directories`);
}

function intersect(a: readonly string[], b: readonly string[]): readonly string[] {
  const within = (inner: readonly string[], outer: readonly string[]) =>
    inner.filter((place) => outer.some((one) => isInside(asRealPath(place), asRealPath(one))));
  return [...new Set([...within(a, b), ...within(b, a)])];
}

/** Is this a session that lives and is not us? */
function isOther(owner: Owner): boolean {
  return owner.pid !== process.pid && isLiving(owner);
}

function pidsOf(holders: readonly Holder[]): string {
  return holders.map(({ pid }) => pid).join(', ');
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function realPlace(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
