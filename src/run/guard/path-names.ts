// What a property's name says of its value: a path, never a path, or nothing.

/** The last word of names whose values are paths, in the singular. */
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

/** `repoPath`, `repo_path`, `REPO-PATHS`, `path2` */
export function namesPath(name: string): boolean {
  const word = lastWord(name);
  return PATH_WORDS.has(word) || PATH_WORDS.has(word.replace(/s$/, '')) || PATH_WORDS.has(word.replace(/ies$/, 'y'));
}

export function namesText(name: string): boolean {
  return TEXT_NAMES.has(foldName(name));
}

/** Equal for the spellings of one name: some readers do not tell upper case from lower. */
export function foldName(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** In lower case; the last upper-case letters of `fileURIs` are a word as well. */
function lastWord(name: string): string {
  const [word = ''] = /(?:[A-Z]{2,}s?|[A-Z]?[a-z]+)$/.exec(name.replace(/[^A-Za-z]+$/, '')) ?? [];
  return word.toLowerCase();
}
