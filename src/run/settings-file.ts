// The config channel: a list in a file of the server's own settings, ours while a server runs, and as it was afterwards.
//
// A note beside the file says what it was and who has it. It is written before the file is, so that whoever comes next can
// put the file back after a session that was killed. Sessions that run at once share the file: the list is what each of them
// may use, so that none gets what only another may.

import { linkSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isInside } from '../core/boundary.ts';
import { asRealPath } from '../core/path.ts';
import { writeDurably } from '../disk/durable-write.ts';
import { isThere } from '../disk/process-stat.ts';
import { editValue, readValue } from './edit-list.ts';
import type { SettingsList } from './launch.ts';
import { identifyProcess, isAlive } from './processes.ts';

interface Owner {
  readonly pid: number;
  /** null where the system does not tell. */
  readonly startTime: string | null;
}

/** A session with this file. */
interface Holder extends Owner {
  readonly paths: readonly string[];
}

interface Note {
  /** The file as it was; null: there was none. */
  readonly original: string | null;
  /** What we have written last. */
  readonly written: string;
  readonly holders: readonly Holder[];
}

const LOCK_TRIES = 100;
const LOCK_WAIT_MS = 20;

/** Throws plain Errors that say what is wrong: it is loaded apart from the rest, and their classes are not the same. */
export class SettingsFile {
  readonly #channel: SettingsList['channel'];
  /** Links are the user's own affair and stay. */
  readonly #path: string;
  readonly #note: string;
  readonly #lock: string;

  constructor(channel: SettingsList['channel']) {
    this.#channel = channel;
    this.#path = realPlace(channel.path);
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
      const present = readText(this.#path);
      // Who left the note may have been killed before it could put the file back.
      const original = note === null ? present : others.length > 0 ? note.original : this.#restored(note, present);
      const text = others.length > 0 ? present : original;
      const written = editValue(text ?? '', this.#channel, sharedList({ paths, isGrant }, others));
      await this.#writeNote({ original, written, holders: [...others, { ...ownIdentity(), paths }] });
      await this.#write(written);
    });
  }

  /** Puts the file back, unless other sessions have it. What was changed in it meanwhile stays. */
  async release(): Promise<void> {
    await this.#alone(async () => {
      const note = this.#readNote();
      if (note === null) return;
      const others = note.holders.filter(isOther);
      if (others.length > 0) return this.#writeNote({ ...note, holders: others });
      const restored = this.#restored(note, readText(this.#path));
      if (restored === null) rmSync(this.#path, { force: true });
      else await this.#write(restored);
      rmSync(this.#note, { force: true });
    });
  }

  /** What the file would be without us. */
  #restored({ original, written }: Note, present: string | null): string | null {
    if (present === null || present === written || present === original) return original;
    const value = original === null ? undefined : readValue(original, this.#channel);
    return editValue(present, this.#channel, value);
  }

  async #write(text: string): Promise<void> {
    const mode = statSync(this.#path, { throwIfNoEntry: false })?.mode ?? 0o600;
    await writeDurably(this.#path, text, { mode: mode & 0o777 });
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

  /** Runs `act` while no other session does; a lock of a session that is gone is none. */
  async #alone(act: () => Promise<void>): Promise<void> {
    for (let tries = 1; !this.#tryLock(); tries++) {
      if (tries === LOCK_TRIES) throw new Error(`another session has had "${this.#lock}" for too long`);
      await new Promise((resolve) => setTimeout(resolve, LOCK_WAIT_MS));
    }
    try {
      await act();
    } finally {
      rmSync(this.#lock, { force: true });
    }
  }

  #tryLock(): boolean {
    // Made under another name: nobody sees a lock that does not say whose it is.
    const own = `${this.#lock}.${process.pid}`;
    writeFileSync(own, JSON.stringify(ownIdentity()), { mode: 0o600 });
    try {
      linkSync(own, this.#lock);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const text = readText(this.#lock);
      if (text !== null && !isHeld(text)) rmSync(this.#lock, { force: true });
      return false;
    } finally {
      rmSync(own, { force: true });
    }
  }
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
  const pids = others.map(({ pid }) => pid).join(', ');
  throw new Error(`another session of this server (process ${pids}) uses it for other directories`);
}

function intersect(a: readonly string[], b: readonly string[]): readonly string[] {
  const within = (inner: readonly string[], outer: readonly string[]) =>
    inner.filter((place) => outer.some((one) => isInside(asRealPath(place), asRealPath(one))));
  return [...new Set([...within(a, b), ...within(b, a)])];
}

function ownIdentity(): Owner {
  return { pid: process.pid, startTime: identifyProcess(process.pid)?.startTime ?? null };
}

/** Does a lock of this text hold? One that says nothing was never seen so by anybody: a power cut has left it. */
function isHeld(text: string): boolean {
  try {
    return isOther(JSON.parse(text) as Owner);
  } catch {
    return false;
  }
}

/** Is this a session that lives and is not us? */
function isOther({ pid, startTime }: Owner): boolean {
  if (pid === process.pid) return false;
  return startTime === null ? isThere(pid) : isAlive({ pid, startTime });
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
