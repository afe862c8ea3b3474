// A root's own `.rootsd.yaml` (docs/policy.md, "Files and layers"): whoever may write in the root may write it, so it only narrows.

import { join } from 'node:path';
import { type Problem, problem, startOf } from '../core/errors.ts';
import { literalPattern, type PathPattern, parsePolicyPath } from '../core/pattern.ts';
import type { ProjectFile } from '../core/place.ts';
import { type FetchedProject, fetchProject, MAX_PROJECT_BYTES, PROJECT_FILE } from '../disk/project-file.ts';
import { decodeText } from './decode-text.ts';
import { type PolicySource, readSource } from './policy-source.ts';
import { hasErrors, inFileOrder } from './problem-order.ts';
import { whyErrno } from './read-layer.ts';
import { clip } from './source-text.ts';
import { type Pointer, pointerTo } from './yaml-file.ts';

interface RawProject {
  readonly access?: 'read-only';
  readonly deny?: readonly string[];
  readonly ask?: boolean;
}

/** Reads the project file of a root (a canonical directory); undefined where there is none. Never blocks on a pipe. */
export function readProject(root: string, fetched?: FetchedProject): ProjectFile | undefined {
  return readProjectFile(root, fetched)?.file;
}

/** All that is wrong with the project file of a root. */
export function checkProject(root: string): readonly Problem[] {
  return readProjectFile(root)?.problems ?? [];
}

interface ProjectRead {
  readonly file: ProjectFile;
  readonly problems: readonly Problem[];
}

function readProjectFile(root: string, fetched: FetchedProject = fetchProject(root)): ProjectRead | undefined {
  const file = join(root, PROJECT_FILE);
  if (fetched.bytes !== null) return parseProject(root, file, fetched.bytes);
  const { errno } = fetched;
  if (errno === null) {
    return broken(file, [problem('TRUST_NOT_A_FILE', startOf(file), { path: file, what: 'something else' })]);
  }
  // ENOTDIR: the root is a file.
  if (errno === 'ENOENT' || errno === 'ENOTDIR') return undefined;
  // O_NOFOLLOW answers ELOOP where a link stands.
  const what = errno === 'ELOOP' ? 'it is a link' : whyErrno(errno);
  return broken(file, [problem('POLICY_UNREADABLE', startOf(file), { file, what })]);
}

function parseProject(root: string, file: string, bytes: Buffer): ProjectRead {
  const text = decodeText(file, bytes, MAX_PROJECT_BYTES);
  if (typeof text === 'object') return broken(file, [text]);
  const { source, problems } = readSource('project', 'project', file, text);
  if (source === null || hasErrors(problems)) return broken(file, problems);
  const raw = source.value as RawProject;
  const deny = (raw.deny ?? []).flatMap((path, i) => {
    const pointer = pointerTo('/deny', i);
    const pattern = compileRelative(source, pointer, path, root);
    return pattern === null ? [] : [{ pattern, source: source.sourceOf(pointer) }];
  });
  if (hasErrors(source.problems)) return broken(file, source.problems);
  const access = raw.access === undefined ? {} : { access: raw.access };
  return {
    file: { state: 'good', file, ...access, ask: raw.ask ?? false, deny },
    problems: [...problems, ...source.problems],
  };
}

/** Relative to the root, whose own name may hold what is special in a policy. */
function compileRelative(source: PolicySource, pointer: Pointer, text: string, root: string): PathPattern | null {
  const isRelative = !/^[/~]|\$\{/.test(text);
  const nobody = { home: '', user: '', uid: 0, hostname: '' };
  const parsed = parsePolicyPath(`/${text}`, nobody, { stars: true });
  if (isRelative && parsed.ok) {
    return { text, components: [...literalPattern(root).components, ...parsed.pattern.components] };
  }
  const why = isRelative && !parsed.ok ? parsed.why : 'must be relative to the root that holds this file';
  source.refuse('POLICY_PATH', pointer, { path: clip(text), why });
  return null;
}

/** The first error is enough for a decision; `check` lists all. */
function broken(file: string, problems: readonly Problem[]): ProjectRead {
  const [first] = inFileOrder(problems.filter(({ severity }) => severity === 'error'));
  const why = first === undefined ? 'it cannot be read' : `line ${first.line}: ${first.message}`;
  return { file: { state: 'broken', file, why }, problems };
}
