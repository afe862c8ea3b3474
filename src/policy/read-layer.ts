// A layer's directory -> its policy, or all that is wrong with it. Nothing of a layer is used unless all of it is good.

import { dirname } from 'node:path';
import { type Problem, problem, startOf } from '../core/errors.ts';
import type { Expansions } from '../core/pattern.ts';
import type { LayerPolicy } from '../core/policy.ts';
import type { TestResult } from '../core/run-tests.ts';
import type { LayerFile } from './compile-layer.ts';
import { decodeText } from './decode-text.ts';
import { type LayerListing, type ListedFile, listLayer } from './list-layer.ts';
import { hasErrors, inFileOrder } from './problem-order.ts';
import { type Prove, proveLayer } from './prove-layer.ts';
import { type Trust, TrustedReader } from './trust.ts';

/** A policy file has at most 1 MiB. */
export const MAX_POLICY_BYTES = 1024 * 1024;
/** All files of a layer together: they are in memory at once. Written down as the last good state it is about as much again. */
export const MAX_LAYER_BYTES = 32 * 1024 * 1024;

export interface ReadLayerOptions {
  readonly layer: 'system' | 'user';
  readonly expansions: Expansions;
  readonly trust: Omit<Trust, 'layer'>;
  /** The layers above, upper ones first, the built-in one included. */
  readonly upper: readonly LayerPolicy[];
  /** Names of the listeners of rootsd.yaml. */
  readonly listeners?: readonly string[];
  /** A layer above could not be read: names that are not declared may be declared there. */
  readonly isIncomplete?: boolean;
  /** Where the texts become a policy; here and now when omitted. */
  readonly prove?: Prove;
}

export interface GoodLayer {
  readonly state: 'good';
  readonly policy: LayerPolicy;
  /** Warnings only. */
  readonly problems: readonly Problem[];
  readonly listing: readonly ListedFile[];
  /** What was read: compileLayer() makes the same policy of it later. */
  readonly texts: readonly LayerFile[];
  /** How its tests came out. */
  readonly results: readonly TestResult[];
}

export interface BrokenLayer {
  readonly state: 'broken';
  readonly problems: readonly Problem[];
  readonly listing: readonly ListedFile[];
}

/** `absent`: there is no such directory. Absent is told apart from wrong. */
export type LayerRead = GoodLayer | BrokenLayer | { readonly state: 'absent' };

/** Reads, judges, compiles and tests the layer in a directory. What cannot be read is a problem, not a rejection. */
export async function readLayer(options: ReadLayerOptions & { readonly directory: string }): Promise<LayerRead> {
  const { directory } = options;
  let listing: LayerListing;
  try {
    listing = await listLayer(directory);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { state: 'absent' };
    return { state: 'broken', problems: [unreadable(directory, error)], listing: [] };
  }
  return readPolicyFiles(listing, options);
}

/** The same for files that are listed already. */
export async function readPolicyFiles(
  { policies, ignored, problems: misnamed }: LayerListing,
  options: ReadLayerOptions,
): Promise<GoodLayer | BrokenLayer> {
  const reader = new TrustedReader({ ...options.trust, layer: options.layer });
  const texts: LayerFile[] = [];
  const problems: Problem[] = [...misnamed];
  let bytes = 0;
  for (const path of policies) {
    const file = await readPolicyText(reader, path);
    bytes += file.bytes;
    if (bytes > MAX_LAYER_BYTES) {
      const found = [tooLargeAt(dirname(path)), ...misnamed];
      return { state: 'broken', problems: found, listing: listFiles(policies, ignored, found) };
    }
    problems.push(...file.problems);
    if (file.text !== null) texts.push({ path, text: file.text });
  }
  const isIncomplete = options.isIncomplete === true || texts.length < policies.length;
  const { layer, expansions, upper, listeners = [], prove = proveLayer } = options;
  const proven = await prove({ layer, files: texts, expansions, upper, listeners, isIncomplete });
  const all = inFileOrder([...problems, ...proven.problems]);
  const listed = listFiles([...policies, ...misnamed.map(({ file }) => file)], ignored, all);
  const { policy, results } = proven;
  return policy === null || hasErrors(all)
    ? { state: 'broken', problems: all, listing: listed }
    : { state: 'good', policy, problems: all, listing: listed, texts, results };
}

async function readPolicyText(
  reader: TrustedReader,
  path: string,
): Promise<{ readonly text: string | null; readonly bytes: number; readonly problems: readonly Problem[] }> {
  try {
    const read = await reader.read(path, MAX_POLICY_BYTES);
    const { problems } = read;
    const bytes = read.bytes?.byteLength ?? 0;
    const text = read.bytes === null ? null : decodeText(path, read.bytes, MAX_POLICY_BYTES);
    return typeof text === 'object' && text !== null
      ? { text: null, bytes, problems: [...problems, text] }
      : { text, bytes, problems };
  } catch (error) {
    return { text: null, bytes: 0, problems: [unreadable(path, error)] };
  }
}

/** The layer as a whole is wrong: none of its files alone. */
function tooLargeAt(directory: string): Problem {
  return problem('POLICY_LAYER_TOO_LARGE', startOf(directory), { directory, limit: MAX_LAYER_BYTES });
}

function listFiles(paths: readonly string[], ignored: readonly string[], problems: readonly Problem[]): ListedFile[] {
  const broken = new Set(problems.filter(({ severity }) => severity === 'error').map(({ file }) => file));
  return [
    ...paths.map((path): ListedFile => ({ path, state: broken.has(path) ? 'broken' : 'ok' })),
    ...ignored.map((path): ListedFile => ({ path, state: 'ignored' })),
  ];
}

function unreadable(path: string, error: unknown): Problem {
  return problem('POLICY_UNREADABLE', startOf(path), { file: path, what: whyUnreadable(error) });
}

const ERRNO_WORDS: Readonly<Record<string, string>> = {
  EACCES: 'reading is not permitted',
  ENOENT: 'it is not there (a link to nowhere?)',
  ENOTDIR: 'it is not a directory',
  EISDIR: 'it is a directory',
  ELOOP: 'its links lead in a circle',
  ENXIO: 'it is a socket or a device',
};

/** The system's reason in our words. */
export function whyUnreadable(error: unknown): string {
  const code = codeOf(error);
  if (code === undefined) throw error;
  return whyErrno(code);
}

export function whyErrno(code: string): string {
  return ERRNO_WORDS[code] ?? `the system says ${code}`;
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
