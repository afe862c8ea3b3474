// rootsd.yaml, as strict as a policy: with one problem in it, nothing of it is used.

import type { PolicyDirectories } from '../core/directories.ts';
import { type Problem, problem, RootsError, startOf } from '../core/errors.ts';
import { type Expansions, patternPath } from '../core/pattern.ts';
import { compilePath, isPathItem } from './compile-path.ts';
import { decodeText } from './decode-text.ts';
import { type PolicySource, readSource } from './policy-source.ts';
import { hasErrors, inFileOrder } from './problem-order.ts';
import { whyUnreadable } from './read-layer.ts';
import { type ConfigPaths, type RawConfig, type Settings, settingsOf } from './settings.ts';
import { clip } from './source-text.ts';
import { type Trust, TrustedReader } from './trust.ts';
import type { Pointer } from './yaml-file.ts';

const MAX_CONFIG_BYTES = 1024 * 1024;

export interface ConfigPlaces {
  readonly expansions: Expansions;
  /** Where policies lie unless the configuration says otherwise. */
  readonly policyDirectories: PolicyDirectories;
}

export interface ReadConfigOptions extends ConfigPlaces {
  readonly trust: Trust;
}

export type ConfigRead =
  | { readonly state: 'good'; readonly settings: Settings; readonly problems: readonly Problem[] }
  | { readonly state: 'absent' }
  /** `error` sums up what `problems` list. */
  | { readonly state: 'broken'; readonly error: RootsError; readonly problems: readonly Problem[] };

/** Reads the configuration at `path`. Never rejects for what stands on the disk. */
export async function readConfig(path: string, options: ReadConfigOptions): Promise<ConfigRead> {
  const reader = new TrustedReader(options.trust);
  try {
    const { bytes, problems } = await reader.read(path, MAX_CONFIG_BYTES);
    if (bytes === null) return broken(path, problems);
    const text = decodeText(path, bytes, MAX_CONFIG_BYTES);
    if (typeof text !== 'string') return broken(path, [...problems, text]);
    return parseConfig(path, text, { ...options, known: problems });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { state: 'absent' };
    const what = whyUnreadable(error);
    const unreadable = problem('CONFIG_UNREADABLE', startOf(path), { file: path, what });
    return {
      state: 'broken',
      error: new RootsError('CONFIG_UNREADABLE', { file: path, what }),
      problems: [unreadable],
    };
  }
}

/** The same for a text; `known`: problems of the file that were found before. */
export function parseConfig(
  path: string,
  text: string,
  options: ConfigPlaces & { readonly known?: readonly Problem[] },
): ConfigRead {
  const { source, problems } = readSource('config', 'system', path, text);
  const found = [...(options.known ?? []), ...problems];
  if (source === null || hasErrors(problems)) return broken(path, found);
  const settings = settingsOf(source.value as RawConfig, pathsIn(source, options), options.policyDirectories);
  const all = inFileOrder([...found, ...source.problems]);
  return hasErrors(all) ? broken(path, all) : { state: 'good', settings, problems: all };
}

function broken(path: string, found: readonly Problem[]): ConfigRead {
  const problems = inFileOrder(found);
  const errors = problems.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  const what = `${first?.message ?? 'it cannot be used'}${more}`;
  const details = first === undefined ? {} : { at: first, ...(first.hint === undefined ? {} : { hint: first.hint }) };
  return { state: 'broken', error: new RootsError('CONFIG_INVALID', { file: path, what }, details), problems };
}

/** Replaces `~` and placeholders; a path that cannot be used is reported and stays as it is. */
function pathsIn(source: PolicySource, { expansions }: ConfigPlaces): ConfigPaths {
  const absolute = (pointer: Pointer, text: string) => {
    const pattern = compilePath(source, pointer, text, { expansions, stars: false });
    return pattern === null ? text : patternPath(pattern);
  };
  const relative = (pointer: Pointer, text: string) => {
    if (isPathItem(text)) return absolute(pointer, text);
    if (text.split('/').includes('..')) {
      source.refuse('POLICY_PATH', pointer, { path: clip(text), why: 'has a ".." component' });
    }
    return text;
  };
  return { absolute, relative };
}
