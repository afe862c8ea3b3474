import { RootsError } from '../core/errors.ts';
import { ANY, type PathPattern, patternPath } from '../core/pattern.ts';
import { type Hint, sameHints, spellingHints } from './hints.ts';
import type { Looking } from './looking.ts';
import type { Lookout } from './lookout.ts';
import { type Forms, MAX_ENTRIES, resolvePattern } from './resolve-pattern.ts';
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
  #forms: readonly PathPattern[] = [];
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
    return this.#forms;
  }

  *look(): Generator<void, boolean> {
    const found = yield* this.#find();
    this.#aim(found.listed);
    this.#warn(found);
    const before = this.#forms;
    this.#forms = found.isPartial ? union(before, found.forms) : found.forms;
    return keysOf(before) !== keysOf(this.#forms);
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
    return { ...asked.answer, forms, listed: found.listed, slow: found.slow };
  }

  #aim(listed: readonly string[]): void {
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

function union(a: readonly PathPattern[], b: readonly PathPattern[]): readonly PathPattern[] {
  return [...new Map([...a, ...b].map((form) => [patternPath(form), form])).values()];
}

/** Which forms there are, whatever their order: a directory lists its entries as it likes. */
function keysOf(forms: readonly PathPattern[]): string {
  return forms.map(patternPath).sort().join('\0');
}
