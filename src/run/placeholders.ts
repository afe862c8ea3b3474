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

/** What separates the parts of an argument, where it stands in it beside placeholders. */
const SEPARATORS = [',', ':', ';'];

/**
 * Can a path stand in this argument and be the same again at the other end? Not with a line break, nor with a character that
 * separates the parts of this very argument (`--mount type=bind,src={primary}`): whoever names a directory would write options.
 */
export function fitsArgument(path: string, arg: string): boolean {
  const written = arg.replaceAll(PLACEHOLDER, '');
  return !/[\r\n]/.test(path) && !SEPARATORS.some((one) => written.includes(one) && path.includes(one));
}

/** The places that do not fit into some argument that would hold them. */
export function misfits(args: readonly string[], places: readonly BoundaryEntry[]): readonly BoundaryEntry[] {
  const holding = args.filter((arg) => hasPlaceholders([arg]));
  return places.filter(({ root, path }, i) =>
    holding.some((arg) => {
      const isMeant =
        arg.includes(ALL_ROOTS) || (i === 0 && arg.includes('{primary}')) || namedRoots([arg]).includes(root);
      return isMeant && !fitsArgument(path, arg);
    }),
  );
}

/**
 * The arguments with paths put in. An argument with `{roots}` comes once for each root that fits. What has no root to stand
 * for becomes `empty()`: never no argument, which a server could take for "everything".
 */
export function expandArguments(
  args: readonly string[],
  places: readonly BoundaryEntry[],
  empty: () => string,
): readonly string[] {
  return args.flatMap((arg) => {
    const pathOf = (place: BoundaryEntry | undefined): string =>
      place !== undefined && fitsArgument(place.path, arg) ? place.path : empty();
    const single = arg.replace(PLACEHOLDER, (placeholder: string, name?: string) => {
      if (placeholder === ALL_ROOTS) return placeholder;
      return pathOf(name === undefined ? places[0] : places.find(({ root }) => root === name));
    });
    if (!arg.includes(ALL_ROOTS)) return [single];
    const fitting = places.filter(({ path }) => fitsArgument(path, arg)).map(({ path }) => path);
    return (fitting.length === 0 ? [empty()] : fitting).map((path) => single.replaceAll(ALL_ROOTS, () => path));
  });
}
