import { lstatSync } from 'node:fs';
import { escapeForTerminal, hasControlOrBidi } from '../core/display.ts';
import { RootsError } from '../core/errors.ts';
import { childOf, nameOf } from '../core/path.ts';
import { isCalm } from './calm.ts';
import { failureOf } from './failure.ts';
import { HeardEntries } from './heard-entries.ts';
import { directoryHints, type Hint, isOnTheWay, sameHints, spellingHints } from './hints.ts';
import { placeOf } from './identity.ts';
import { listDirectory } from './list-directory.ts';
import type { Looking } from './looking.ts';
import type { Lookout } from './lookout.ts';
import type { ReadProject } from './project-file.ts';
import { resolvePath } from './resolve.ts';
import { RootWatch, type RootWatchOptions } from './root-watch.ts';
import type { MembersAnswer } from './slow-question.ts';

export interface MemberWatchOptions {
  /** The pattern root's path without its star, as written. */
  readonly path: string;
  readonly having: readonly string[];
  readonly lookout: Lookout;
  readonly readProject: ReadProject;
  readonly onWarning: (warning: RootsError) => void;
  /** A directory that is new, already looked at. */
  readonly onFound: (member: RootWatch) => void;
  readonly onForgotten: (member: RootWatch) => void;
}

/** The directories that a pattern root may have as members. Each is looked at for itself; this knows which there are. */
export class MemberWatch implements Looking {
  readonly #options: MemberWatchOptions;
  readonly #sought: RootWatchOptions;
  readonly #members = new Map<string, RootWatch>();
  readonly #warned = new Set<string>();
  /** The directory that is listed, links resolved. */
  #directory: string | null = null;
  readonly #heard = new HeardEntries();
  /** As the directory was when it was last listed, if that tells it from all that it can become; else null. */
  #calm: { readonly identity: string; readonly ctimeNs: bigint } | null = null;
  #hints: readonly Hint[] = [];
  readonly dueMs = null;

  constructor(options: MemberWatchOptions) {
    this.#options = options;
    const { having, lookout, readProject } = options;
    this.#sought = { kind: 'directory', having, lookout, readProject };
  }

  get hints(): readonly Hint[] {
    return this.#hints;
  }

  /** Every directory that is or could be a member. */
  get candidates(): Iterable<RootWatch> {
    return this.#members.values();
  }

  /** Members by basename, in the order of code points. */
  members(): readonly (readonly [name: string, member: RootWatch])[] {
    return [...this.#members].filter(([, member]) => member.isShown).sort(([a], [b]) => compareCodePoints(a, b));
  }

  /** Finds directories that are new. That one has gone, or holds what it must, is found by looking at that one. */
  *look(nowMs: number): Generator<void, boolean> {
    this.#dropGone();
    let changed = false;
    for (const name of this.#names()) {
      yield;
      if (name !== null && this.#isNew(name)) changed = (yield* this.#add(name, nowMs)) || changed;
    }
    return changed;
  }

  hear(directory: string, entry: string | null): boolean {
    if (entry === null || directory !== this.#directory || isOnTheWay(this.#hints, directory, entry)) return false;
    return this.#heard.add(childOf(directory, entry));
  }

  /** Finds those among the entries heard of that are new directories. */
  *lookAtEntries(nowMs: number): Generator<void, boolean> {
    const heard = this.#heard.take();
    const { path, lookout } = this.#options;
    const base = resolvePath(path, lookout.walk);
    // That it leads elsewhere now is hinted at too, and is for look().
    if (!base.ok || base.path !== this.#directory) return false;
    let changed = false;
    for (const entry of heard) {
      yield;
      const name = nameOf(entry);
      const mayBeNew = !lookout.mayTouch(entry) || isDirectory(entry);
      if (mayBeNew && this.#isNew(name)) changed = (yield* this.#add(name, nowMs)) || changed;
    }
    return changed;
  }

  /** The directories there are; null for an entry that is none. */
  *#names(): Generator<string | null> {
    const { path, lookout } = this.#options;
    const base = resolvePath(path, lookout.walk);
    this.#directory = null;
    if (!base.ok && base.slow !== undefined) {
      this.#aim(spellingHints(path, lookout.mayTouch));
      const asked = lookout.ask<MembersAnswer>(this, base.slow, { about: 'members', path });
      if (asked.state === 'answered') yield* asked.answer.names;
      return;
    }
    lookout.forget(this);
    if (!base.ok || base.stat?.isDirectory() !== true) {
      this.#aim(spellingHints(path));
      return;
    }
    const place = placeOf(base.path, base.stat);
    this.#directory = base.path;
    this.#aim(directoryHints(path, place, null));
    const { ctimeNs } = base.stat;
    if (this.#calm?.identity === place.identity && this.#calm.ctimeNs === ctimeNs) return;
    this.#calm = null;
    // Time to watch it before it is listed.
    yield null;
    const entries = listDirectory(base.path);
    let entry = entries.next();
    for (; !entry.done; entry = entries.next()) yield entry.value.isDirectory ? entry.value.name : null;
    if (entry.value && isCalm(base.stat, lookout.clock)) this.#calm = { identity: place.identity, ctimeNs };
  }

  *#add(name: string, nowMs: number): Generator<void, boolean> {
    const member = new RootWatch(childOf(this.#options.path, name), this.#sought);
    this.#members.set(name, member);
    yield* member.look(nowMs);
    this.#options.onFound(member);
    return member.isShown;
  }

  #dropGone(): void {
    for (const [name, member] of this.#members) {
      if (!member.isGone) continue;
      this.#members.delete(name);
      this.#options.onForgotten(member);
    }
  }

  #isNew(name: string): boolean {
    if (this.#members.has(name)) return false;
    if (!hasControlOrBidi(name)) return true;
    if (!this.#warned.has(name)) {
      this.#warned.add(name);
      this.#options.onWarning(
        new RootsError('ROOT_MEMBER_NAME', { directory: this.#options.path, name: escapeForTerminal(name) }),
      );
    }
    return false;
  }

  #aim(hints: readonly Hint[] | null): void {
    if (hints !== null && !sameHints(hints, this.#hints)) this.#hints = hints;
  }
}

function isDirectory(entry: string): boolean {
  try {
    return lstatSync(entry, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch (error) {
    failureOf(error);
    return false;
  }
}

/** UTF-8 sorts by code point, UTF-16 does not. */
function compareCodePoints(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
