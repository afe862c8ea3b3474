/** Does a name fit a glob: `*` is any text, `?` any one character, all else is itself? */
export function fitsGlob(glob: string, name: string): boolean {
  const [pattern, text] = [[...glob], [...name]];
  let [at, from] = [0, 0];
  /** Where the last star stood, and what it has taken up to. */
  let star: { readonly at: number; from: number } | null = null;
  while (from < text.length) {
    if (pattern[at] === '*') {
      star = { at, from };
      at += 1;
    } else if (pattern[at] === '?' || (at < pattern.length && pattern[at] === text[from])) {
      at += 1;
      from += 1;
    } else if (star !== null) {
      star.from += 1;
      at = star.at + 1;
      from = star.from;
    } else return false;
  }
  return pattern.slice(at).every((part) => part === '*');
}
