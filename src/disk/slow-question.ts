// What is asked about places on mounts that may hang, and how it is answered: in the helper process, which may hang.

import type { Component } from '../core/pattern.ts';
import { runAtOnce } from '../core/steps.ts';
import type { Observation } from './availability.ts';
import { type Fetched, type FetchRequest, fetchPlace } from './fetch-place.ts';
import { kernelWalk } from './kernel-walk.ts';
import { listDirectory } from './list-directory.ts';
import { observeRoot, type Sought } from './observe-root.ts';
import { type FetchedProject, fetchProject, projectFingerprint } from './project-file.ts';
import { resolvePath, resolvePlace } from './resolve.ts';
import { type Forms, resolvePattern } from './resolve-pattern.ts';

export type SlowQuestion =
  | { readonly about: 'root'; readonly path: string; readonly kind: 'directory' | 'file' }
  | { readonly about: 'member'; readonly path: string; readonly having: readonly string[] }
  | { readonly about: 'members'; readonly path: string }
  | { readonly about: 'forms'; readonly components: readonly Component[] }
  | { readonly about: 'path'; readonly path: string }
  | { readonly about: 'place'; readonly request: FetchRequest };

export interface RootAnswer {
  readonly seen: Observation;
  /** Of a directory that is there. */
  readonly project: { readonly fingerprint: string; readonly fetched: SentProject } | null;
}

/** `base64`: null where it could not be fetched, see FetchedProject. */
interface SentProject {
  readonly base64: string | null;
  readonly errno: string | null;
}

export interface MembersAnswer {
  /** Of all directories there. */
  readonly names: readonly string[];
}

export interface FormsAnswer extends Omit<Forms, 'forms' | 'listed' | 'slow'> {
  readonly forms: readonly (readonly Component[])[];
}

export interface PathAnswer {
  /** The canonical path; null: none is found. */
  readonly leadsTo: string | null;
  readonly isThere: boolean;
  /** Empty if it leads somewhere. */
  readonly why: string;
}

export type SlowAnswer = RootAnswer | MembersAnswer | FormsAnswer | PathAnswer | Fetched;

const WALK = kernelWalk();

/** Looks at the disk, and hangs as long as that does. */
export function answerSlowly(question: SlowQuestion): SlowAnswer {
  switch (question.about) {
    case 'root':
      return answerRoot(question.path, { kind: question.kind, having: null });
    case 'member':
      return answerRoot(question.path, { kind: 'directory', having: question.having });
    case 'members':
      return { names: directoryNames(question.path) };
    case 'forms': {
      const pattern = { text: '', components: question.components };
      const { forms, isPartial, isCutOff } = runAtOnce(resolvePattern(pattern, WALK));
      return { forms: [...forms.values()].map(({ components }) => components), isPartial, isCutOff };
    }
    case 'path': {
      const resolved = resolvePlace(question.path, WALK);
      return resolved.ok
        ? { leadsTo: resolved.path, isThere: resolved.isThere, why: '' }
        : { leadsTo: null, isThere: false, why: resolved.why };
    }
    case 'place':
      return runAtOnce(fetchPlace(question.request, WALK));
  }
}

export function receiveProject({ base64, errno }: SentProject): FetchedProject {
  return base64 === null ? { bytes: null, errno } : { bytes: Buffer.from(base64, 'base64') };
}

function answerRoot(path: string, sought: Sought): RootAnswer {
  const seen = observeRoot(path, sought, WALK);
  if (seen.state !== 'there' || sought.kind !== 'directory') return { seen, project: null };
  const fingerprint = projectFingerprint(seen.place.path);
  return { seen, project: { fingerprint, fetched: sendProject(fetchProject(seen.place.path)) } };
}

function sendProject(fetched: FetchedProject): SentProject {
  if (fetched.bytes === null) return { base64: null, errno: fetched.errno };
  return { base64: fetched.bytes.toString('base64'), errno: null };
}

function directoryNames(path: string): readonly string[] {
  const base = resolvePath(path, WALK);
  if (!base.ok || base.stat?.isDirectory() !== true) return [];
  return [...listDirectory(base.path)].flatMap(({ name, isDirectory }) => (isDirectory && name !== null ? [name] : []));
}
