// One question to `rootsd resolve` and its answer: a PATH of the command line, or a line of standard input.

import { isUtf8 } from 'node:buffer';
import type { Enclosures } from '../core/boundary.ts';
import { parseFileUri } from '../core/path.ts';
import { type Expansions, parsePolicyPath, patternPath } from '../core/pattern.ts';
import { judgePath, resolveRoots, type Verdict } from '../disk/judge.ts';

/** `policy-path`: the value of a `path:` in YAML. */
const KINDS = ['path', 'uri', 'policy-path'] as const;
export type RequestKind = (typeof KINDS)[number];
type RequestId = string | number | null;

export interface Answer {
  readonly id: RequestId;
  readonly verdict: Verdict['verdict'];
  readonly canonical?: string;
  readonly root?: string;
  readonly why: string;
}

/** What holds where a question does not say otherwise. */
export interface Defaults {
  readonly roots: Enclosures;
  readonly expansions: Expansions;
}

/** Judges a text of one of the three kinds. */
export function judgeInput(input: string, kind: RequestKind, { roots, expansions }: Defaults): Verdict {
  switch (kind) {
    case 'path':
      return judgePath(input, roots);
    case 'uri': {
      const uri = parseFileUri(input);
      return uri.ok ? judgePath(uri.path, roots) : { verdict: 'invalid', why: `the URI ${uri.why}` };
    }
    case 'policy-path': {
      const path = parsePolicyPath(input, expansions, { stars: false });
      if (!path.ok) return { verdict: 'invalid', why: `the path ${path.why}` };
      return judgePath(patternPath(path.pattern), roots, { refuseSpecial: true });
    }
  }
}

/** Answers `{"id","kind","input","roots":[…]}`; a line without `roots` gets the default ones. Never throws. */
export function answerLine(line: Buffer | null, defaults: Defaults): Answer {
  if (line === null) return invalid(null, 'the line is too long');
  if (!isUtf8(line)) return invalid(null, 'the line is not UTF-8');
  const request = parseObject(line.toString('utf8'));
  if (request === undefined) return invalid(null, 'the line is not a JSON object');
  const { id = null, kind, input, roots } = request;
  if (!isId(id)) return invalid(null, '"id" must be a string or a number');
  if (!isKind(kind)) return invalid(id, `"kind" must be one of ${KINDS.join(', ')}`);
  if (typeof input !== 'string') return invalid(id, '"input" must be a string');
  if (roots !== undefined && !Array.isArray(roots)) return invalid(id, '"roots" must be a list');
  const given = roots === undefined ? defaults.roots : resolveRoots(roots.filter((root) => typeof root === 'string'));
  return { id, ...judgeInput(input, kind, { ...defaults, roots: given }) };
}

function invalid(id: RequestId, why: string): Answer {
  return { id, verdict: 'invalid', why };
}

function isId(id: unknown): id is RequestId {
  return id === null || typeof id === 'string' || typeof id === 'number';
}

function isKind(kind: unknown): kind is RequestKind {
  return KINDS.some((known) => known === kind);
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
