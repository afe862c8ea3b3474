import { escapeForTerminal, hasControlOrBidi } from '../core/display.ts';
import { RootsError } from '../core/errors.ts';
import { directoryHints, type Hint, sameHints, spellingHints } from './hints.ts';
import { placeOf } from './identity.ts';
import { childOf } from './link-walk.ts';
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

  /** The directories there are; null for an entry that is none. */
  *#names(): Generator<string | null> {
    const { path, lookout } = this.#options;
    const base = resolvePath(path, lookout.walk);
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
    this.#aim(directoryHints(path, placeOf(base.path, base.stat), null));
    // Time to watch it before it is listed.
    yield null;
    for (const { name, isDirectory } of listDirectory(base.path)) yield isDirectory ? name : null;
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

/** UTF-8 sorts by code point, UTF-16 does not. */
function compareCodePoints(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
