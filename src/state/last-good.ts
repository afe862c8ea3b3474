// The texts of a layer as they were when it was last activated, so that a start with a broken policy runs the last good
// one. Trusted like a policy file: ours, in a directory of ours, not writable by others, whole by its digest. The digest
// tells damage, not malice: who can write the file can write the digest too.

import { createHash } from 'node:crypto';
import { truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { type Problem, RootsError } from '../core/errors.ts';
import { LOG_EVENTS } from '../core/log-event.ts';
import type { Layer } from '../core/rule.ts';
import type { Clock } from '../disk/clock.ts';
import { makePrivateDirectory, type Owner } from '../disk/private-directory.ts';
import type { Log } from '../system/log.ts';
import { LastingFile } from './lasting-file.ts';
import { readOwnFile, refused } from './own-file.ts';

/** A layer whose texts are kept: those that are read from directories. */
export type KeptLayer = Extract<Layer, 'system' | 'user'>;

/** A policy file of the layer as it was read. */
export interface KeptFile {
  readonly path: string;
  readonly text: string;
}

export type Kept =
  | { readonly state: 'good'; readonly files: readonly KeptFile[] }
  | { readonly state: 'absent' }
  | { readonly state: 'refused'; readonly error: RootsError };

export interface LastGoodOptions {
  /** Made where it is missing. */
  readonly directory: string;
  readonly owner: Owner;
  readonly log: Log;
  readonly clock?: Clock;
}

/** Nothing here rejects: a daemon that cannot keep its last good state is worse off at its next start, not now. */
export interface LastGood {
  /** The layer's files as last kept. Absent is told apart from what cannot be trusted (logged with the reason). */
  load(layer: KeptLayer): Promise<Kept>;
  save(layer: KeptLayer, files: readonly KeptFile[]): Promise<void>;
  remove(layer: KeptLayer): Promise<void>;
  /** What is not kept as it should be. */
  problems(): readonly Problem[];
  /** Tries no more to write what could not be written. */
  close(): void;
}

const LAYERS: readonly KeptLayer[] = ['system', 'user'];

/** Opens the store. Throws a RootsError `DIRECTORY_UNSAFE` where its directory cannot be ours alone. */
export function openLastGood({ directory, owner, log, clock }: LastGoodOptions): LastGood {
  makePrivateDirectory(directory, owner);
  const pathOf = (layer: KeptLayer) => join(directory, `${layer}.json`);
  const open = (layer: KeptLayer): LastingFile =>
    new LastingFile({
      path: pathOf(layer),
      log,
      lost: LOG_EVENTS.lastGoodLost,
      // What is there is older than what is in force: a start that used it could widen. Emptied, which takes no room on
      // a full disk, it is refused, and that start is closed.
      onFailure: () => truncate(pathOf(layer)).catch(() => undefined),
      ...(clock === undefined ? {} : { clock }),
    });
  const kept = { system: open('system'), user: open('user') };

  return {
    async load(layer) {
      const path = pathOf(layer);
      try {
        const text = await readOwnFile(path, owner);
        return text === null ? { state: 'absent' } : { state: 'good', files: parseRecord(path, text, layer) };
      } catch (cause) {
        const error = cause instanceof RootsError ? cause : unreadable(path, cause);
        log('warn', LOG_EVENTS.lastGoodRefused, { error });
        return { state: 'refused', error };
      }
    },
    async save(layer, files) {
      await kept[layer].write(formatRecord(layer, files));
    },
    async remove(layer) {
      await kept[layer].remove();
    },
    problems() {
      return LAYERS.flatMap((layer) => kept[layer].problems());
    },
    close() {
      for (const file of Object.values(kept)) file.close();
    },
  };
}

function formatRecord(layer: Layer, files: readonly KeptFile[]): string {
  const content = { version: 1, layer, files: files.map(({ path, text }) => ({ path, text })) };
  return `${JSON.stringify({ ...content, sha256: digestOf(layer, files) })}\n`;
}

function parseRecord(path: string, text: string, layer: Layer): readonly KeptFile[] {
  const record = parseJson(path, text);
  if (!isRecord(record) || record.version !== 1) throw refused(path, 'it has not the form that we write');
  const { files } = record;
  if (record.layer !== layer || !Array.isArray(files) || !files.every(isKeptFile)) {
    throw refused(path, 'it has not the form that we write');
  }
  if (record.sha256 !== digestOf(layer, files)) throw refused(path, 'its digest does not fit: it is damaged');
  return files;
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refused(path, 'it is not JSON');
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isKeptFile(value: unknown): value is KeptFile {
  return isRecord(value) && typeof value.path === 'string' && typeof value.text === 'string';
}

function digestOf(layer: Layer, files: readonly KeptFile[]): string {
  const content = [layer, files.map(({ path, text }) => [path, text])];
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}

function unreadable(path: string, cause: unknown): RootsError {
  return new RootsError('STATE_REFUSED', { path, what: 'it cannot be read' }, { cause });
}
