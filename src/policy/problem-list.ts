import { type Code, type Params, type Problem, problem } from '../core/errors.ts';
import { positionOf, type Range, type SourceText } from './source-text.ts';

/** So many problems of one file are told apart; a file with more is no policy, and listing them all would take seconds. */
export const MAX_PROBLEMS = 1000;

/** The problems of one file as they are found. */
export class ProblemList {
  readonly #source: SourceText;
  readonly #problems: Problem[] = [];

  constructor(source: SourceText) {
    this.#source = source;
  }

  get all(): readonly Problem[] {
    return this.#problems;
  }

  get isFull(): boolean {
    return this.#problems.length > MAX_PROBLEMS;
  }

  add(code: Code, range: Range, params: Params = {}): void {
    if (this.isFull) return;
    const isLast = this.#problems.length === MAX_PROBLEMS;
    const at = positionOf(this.#source, range);
    this.#problems.push(isLast ? problem('TOO_MANY_PROBLEMS', at, { limit: MAX_PROBLEMS }) : problem(code, at, params));
  }
}
