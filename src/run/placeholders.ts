// `{roots}`, `{primary}` and `{root:NAME}` in arguments and in values of variables. Nothing else in them is touched: no
// shell, no `~`, no variables.

import type { BoundaryEntry } from '../core/protocol.ts';

const PLACEHOLDER = /\{(?:roots|primary|root:([^{}]+))\}/g;
const ALL_ROOTS = '{roots}';

/** Do these arguments (the command itself left out) hold a placeholder? Then argv is a channel. */
export function hasPlaceholders(args: readonly string[]): boolean {
  return args.some((arg) => arg.search(PLACEHOLDER) !== -1);
}

/** The names of roots in the placeholders of these texts. */
export function namedRoots(texts: readonly string[]): readonly string[] {
  const names = texts.flatMap((text) => [...text.matchAll(PLACEHOLDER)].map(([, name]) => name));
  return [...new Set(names.filter((name) => name !== undefined))];
}

/**
 * The arguments with paths put in. An argument with `{roots}` comes once for each root. What has no root to stand for
 * becomes `empty()`: never no argument, which a server could take for "everything".
 */
export function expandArguments(
  args: readonly string[],
  places: readonly BoundaryEntry[],
  empty: () => string,
): readonly string[] {
  return args.flatMap((arg) => {
    const single = arg.replace(PLACEHOLDER, (placeholder: string, name?: string) => {
      if (placeholder === ALL_ROOTS) return placeholder;
      const place = name === undefined ? places[0] : places.find(({ root }) => root === name);
      return place?.path ?? empty();
    });
    if (!arg.includes(ALL_ROOTS)) return [single];
    const paths = places.length === 0 ? [empty()] : places.map(({ path }) => path);
    return paths.map((path) => single.replaceAll(ALL_ROOTS, () => path));
  });
}
