// Rules that end. What allows until some time gives nothing from then on; time takes away, it never gives.

import type { Rule } from './rule.ts';

/** As policies write a moment: RFC 3339, UTC, to the second. Also a pattern of JSON Schema. */
export const MOMENT_PATTERN = '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$';

/** Milliseconds since 1970; null where there is no such moment (a 31st of February). */
export function parseMoment(text: string): number | null {
  const ms = new RegExp(MOMENT_PATTERN).test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) || momentText(ms) !== text ? null : ms;
}

/** The same as text; a part of a second is left out. */
export function momentText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -'.000Z'.length)}Z`;
}

/** Has it ended? `nowMs`: null where no time is looked at. */
export function isOver({ untilMs }: Pick<Rule, 'untilMs'>, nowMs: number | null): boolean {
  return untilMs !== undefined && nowMs !== null && nowMs >= untilMs;
}

/** When the next of them ends; null: none does. */
export function nextEndMs(rules: readonly Pick<Rule, 'untilMs'>[], nowMs: number): number | null {
  const ends = rules.flatMap(({ untilMs }) => (untilMs !== undefined && untilMs > nowMs ? [untilMs] : []));
  return ends.length === 0 ? null : ends.reduce((least, ms) => Math.min(least, ms));
}
