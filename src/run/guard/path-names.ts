// What a property's name says of its value: a path, never a path, or nothing.

/** The last words of names whose values are paths, in the singular; some are written as one word or as two (`fileName`). */
const PATH_WORDS: ReadonlySet<string> = new Set([
  'path',
  'file',
  'filename',
  'filepath',
  'dir',
  'directory',
  'folder',
  'root',
  'cwd',
  'workdir',
  'workspace',
  'repo',
  'repository',
  'source',
  'src',
  'destination',
  'dest',
  'dst',
  'target',
  'from',
  'to',
  'input',
  'output',
  'location',
  'uri',
]);

/** Whole names, folded, whose values are text, whatever that looks like. */
const TEXT_NAMES: ReadonlySet<string> = new Set([
  'content',
  'contents',
  'text',
  'body',
  'message',
  'data',
  'code',
  'patch',
  'diff',
  'query',
  'pattern',
  'regex',
  'oldtext',
  'newtext',
]);

/** `repoPath`, `repo_path`, `REPO-PATHS`, `path2`, `file_name` */
export function namesPath(name: string): boolean {
  const [last = '', beforeLast = ''] = lastWords(name.replaceAll('\u017f', 's').replaceAll('\u212a', 'k'));
  return isPathWord(last) || isPathWord(beforeLast + last);
}

function isPathWord(word: string): boolean {
  return PATH_WORDS.has(word) || PATH_WORDS.has(word.replace(/s$/, '')) || PATH_WORDS.has(word.replace(/ies$/, 'y'));
}

/** Whole names, folded, of directories that a call works in: it neither moves nor removes them. */
const WORKPLACE_NAMES: ReadonlySet<string> = new Set([
  'cwd',
  'workdir',
  'workingdir',
  'workingdirectory',
  'workspace',
  'repo',
  'repopath',
  'repository',
  'repositorypath',
]);

export function namesWorkplace(name: string): boolean {
  return WORKPLACE_NAMES.has(foldName(name));
}

export function namesText(name: string): boolean {
  return TEXT_NAMES.has(foldName(name));
}

/** Equal for names that readers take for one where they fold case: to some `\u017f` is an s, and `\u212a` a k. */
export function foldCase(name: string): string {
  return name.toUpperCase().toLowerCase();
}

/** Equal for the spellings of one name: some readers do not tell upper case from lower. */
export function foldName(name: string): string {
  return foldCase(name).replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** The last and the one before, in lower case; the last upper-case letters of `fileURIs` are a word as well. */
function lastWords(name: string): readonly string[] {
  const words: string[] = [];
  for (let end = name.length; words.length < 2; ) {
    while (end > 0 && !LETTER.test(name.charAt(end - 1))) end -= 1;
    const [word] = LAST_WORD.exec(name.slice(Math.max(0, end - MAX_WORD), end)) ?? [];
    if (word === undefined) break;
    words.push(word.toLowerCase());
    end -= word.length;
  }
  return words;
}

const LETTER = /[A-Za-z]/;
const LAST_WORD = /(?:[A-Z]{2,}s?|[A-Z]?[a-z]+)$/;
/** More letters than any word that is looked for: of a name of any length only so many are looked at. */
const MAX_WORD = 32;
