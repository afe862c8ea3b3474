import { RootsError } from '../core/errors.ts';
import { childOf, parentOf } from '../core/path.ts';
import { ANY, type PathPattern, patternPath } from '../core/pattern.ts';
import { HeardEntries } from './heard-entries.ts';
import { type Hint, isOnTheWay, sameHints, spellingHints } from './hints.ts';
import type { Looking } from './looking.ts';
import type { Lookout } from './lookout.ts';
import { type Forms, MAX_ENTRIES, resolveEntry, resolvePattern } from './resolve-pattern.ts';
import type { FormsAnswer } from './slow-question.ts';

/** Directories with matches of a star that are watched for one pattern; the sweep looks at all. */
const MAX_LISTED_HINTS = 64;

export interface FormsWatchOptions {
  readonly pattern: PathPattern;
  readonly lookout: Lookout;
  readonly onWarning: (warning: RootsError) => void;
}

/** Keeps what a path of the policy really names. */
export class FormsWatch implements Looking {
  readonly #options: FormsWatchOptions;
  /** By the place that leads elsewhere, see Forms. */
  #forms: ReadonlyMap<string, PathPattern> = new Map();
  #listed: Forms['listed'] = new Map();
  readonly #heard = new HeardEntries();
  #hints: readonly Hint[] = [];
  #hasWarned = false;
  readonly dueMs = null;

  constructor(options: FormsWatchOptions) {
    this.#options = options;
  }

  get hints(): readonly Hint[] {
    return this.#hints;
  }

  /** The real places, where they differ from what is written. */
  get forms(): readonly PathPattern[] {
    return distinct(this.#forms.values());
  }

  *look(): Generator<void, boolean> {
    const found = yield* this.#find();
    this.#aim(found.listed.keys());
    this.#warn(found);
    this.#listed = found.slow === null ? found.listed : new Map();
    return this.#take(found.isPartial ? new Map([...this.#forms, ...found.forms]) : found.forms);
  }

  hear(directory: string, entry: string | null): boolean {
    if (entry === null || !this.#listed.has(directory) || isOnTheWay(this.#hints, directory, entry)) return false;
    return this.#heard.add(childOf(directory, entry));
  }

  *lookAtEntries(): Generator<void, boolean> {
    const { pattern, lookout } = this.#options;
    const forms = new Map(this.#forms);
    for (const entry of this.#heard.take()) {
      yield;
      const rest = this.#listed.get(parentOf(entry));
      if (rest === undefined) continue;
      const found = yield* resolveEntry(entry, rest, { pattern, walk: lookout.walk });
      if (!found.isPartial && found.slow === null) forms.delete(entry);
      for (const [place, form] of found.forms) forms.set(place, form);
    }
    return this.#take(forms);
  }

  #take(forms: ReadonlyMap<string, PathPattern>): boolean {
    const before = this.#forms;
    this.#forms = forms;
    return keysOf(before) !== keysOf(forms);
  }

  *#find(): Generator<void, Forms> {
    const { pattern, lookout } = this.#options;
    const found = yield* resolvePattern(pattern, lookout.walk);
    if (found.slow === null) {
      lookout.forget(this);
      return found;
    }
    const question = { about: 'forms', components: pattern.components } as const;
    const asked = lookout.ask<FormsAnswer>(this, found.slow, question);
    if (asked.state !== 'answered') return { ...found, isPartial: true };
    const forms = asked.answer.forms.map((components) => ({ text: pattern.text, components }));
    const byForm = new Map(forms.map((form) => [patternPath(form), form]));
    return { ...asked.answer, forms: byForm, listed: found.listed, slow: found.slow };
  }

  #aim(listed: Iterable<string>): void {
    const { components } = this.#options.pattern;
    const star = components.indexOf(ANY);
    const head = patternPath({ text: '', components: star === -1 ? components : components.slice(0, star) });
    const spelling = spellingHints(head, this.#options.lookout.mayTouch);
    if (spelling === null) return;
    const matches = [...listed]
      .sort()
      .slice(0, MAX_LISTED_HINTS)
      .map((directory): Hint => ({ directory, names: null }));
    const hints = [...spelling, ...matches];
    if (!sameHints(hints, this.#hints)) this.#hints = hints;
  }

  #warn({ isCutOff }: Forms): void {
    if (!isCutOff || this.#hasWarned) return;
    this.#hasWarned = true;
    const { text } = this.#options.pattern;
    this.#options.onWarning(new RootsError('PATTERN_TOO_WIDE', { path: text, limit: MAX_ENTRIES }));
  }
}

function distinct(forms: Iterable<PathPattern>): readonly PathPattern[] {
  return [...new Map([...forms].map((form) => [patternPath(form), form])).values()];
}

/** Which forms there are, whatever their order: a directory lists its entries as it likes. */
function keysOf(forms: ReadonlyMap<string, PathPattern>): string {
  return distinct(forms.values()).map(patternPath).sort().join('\0');
}
