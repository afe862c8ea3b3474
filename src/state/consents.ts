// The file of consents: JSON with a line for each grant, refusal and answer, whole by its digest. The digest tells damage,
// not malice: who can write the file can write the digest too.
//
// INVARIANT: after any crash the file holds what it held before the last change, or what it was to hold after it.

import { createHash } from 'node:crypto';
import { rename, truncate } from 'node:fs/promises';
import type { ConsentEntry, KeptConsents, Refusal } from '../core/consent-record.ts';
import { escapeHiddenInJson } from '../core/display.ts';
import { type Problem, RootsError } from '../core/errors.ts';
import type { Grant } from '../core/grant.ts';
import { LOG_EVENTS } from '../core/log-event.ts';
import type { LastingTime, Moment } from '../core/moment.ts';
import type { Clock } from '../disk/clock.ts';
import type { Owner } from '../disk/private-directory.ts';
import type { Log } from '../system/log.ts';
import { LastingFile } from './lasting-file.ts';
import { readOwnFile, refused } from './own-file.ts';

export interface ConsentStoreOptions {
  /** Its directory must be there, and be ours alone. Who opens it must keep others from opening it. */
  readonly path: string;
  readonly owner: Owner;
  readonly log: Log;
  readonly clock?: Clock;
}

export interface ConsentStore {
  readonly path: string;
  /** What was kept; null: nothing, or nothing that can be trusted. */
  readonly kept: KeptConsents | null;
  /** Why what was kept is not used. It lies aside then. */
  readonly refusal: RootsError | null;
  /**
   * Keeps all of it. Resolves with whether it is kept; if not it is tried again. `isNarrower`: what was kept before must
   * not come back.
   */
  save(consents: KeptConsents, options: { readonly isNarrower: boolean }): Promise<boolean>;
  /** What is not kept as it should be. */
  problems(): readonly Problem[];
  /** Waits for what is being written, and tries no more. */
  close(): Promise<void>;
}

const VERSION = 1;

/** Opens the store. What is damaged, or could have been written by others, counts as nothing and is put aside. */
export async function openConsentStore(options: ConsentStoreOptions): Promise<ConsentStore> {
  const { kept, refusal } = await readKept(options);
  return new FileStore(options, kept, refusal);
}

async function readKept({ path, owner, log }: ConsentStoreOptions): Promise<Pick<ConsentStore, 'kept' | 'refusal'>> {
  try {
    const text = await readOwnFile(path, owner);
    return { kept: text === null ? null : parse(path, text), refusal: null };
  } catch (cause) {
    const refusal = cause instanceof RootsError ? cause : refusedFor(path, cause);
    const setAside = await putAside(path);
    log('error', LOG_EVENTS.consentsRefused, { error: refusal, setAside });
    return { kept: null, refusal };
  }
}

class FileStore implements ConsentStore {
  readonly path: string;
  readonly kept: KeptConsents | null;
  readonly refusal: RootsError | null;
  readonly #file: LastingFile;
  /** What the file holds would give more than what holds. */
  #isWider = false;
  #wanted: KeptConsents | null = null;
  /** What is being written, or was tried last. */
  #given: { readonly consents: KeptConsents; readonly text: string } | null = null;
  /** What was written last. */
  #held: KeptConsents | null = null;
  #saving: Promise<boolean> = Promise.resolve(true);

  constructor({ path, log, clock }: ConsentStoreOptions, kept: KeptConsents | null, refusal: RootsError | null) {
    this.path = path;
    this.kept = kept;
    this.refusal = refusal;
    this.#file = new LastingFile({
      path,
      log,
      lost: LOG_EVENTS.consentsLost,
      onWritten: (text) => this.#written(text),
      // Emptied, which takes no room on a full disk, it is refused, and gives nothing.
      onFailure: async () => {
        if (this.#isWider) await truncate(path).catch(() => undefined);
      },
      ...(clock === undefined ? {} : { clock }),
    });
  }

  save(consents: KeptConsents, { isNarrower }: { readonly isNarrower: boolean }): Promise<boolean> {
    this.#isWider ||= isNarrower;
    this.#wanted = consents;
    this.#saving = this.#saving.then(() => this.#write());
    return this.#saving;
  }

  problems(): readonly Problem[] {
    return this.#file.problems();
  }

  async close(): Promise<void> {
    await this.#saving;
    this.#file.close();
  }

  /** What is wanted by the time that it is this one's turn: of many that come at once the last is written. */
  async #write(): Promise<boolean> {
    const consents = this.#wanted;
    if (consents === this.#held || consents === null) return true;
    this.#given = { consents, text: format(consents) };
    return this.#file.write(this.#given.text);
  }

  /** At once, or at a later try. */
  #written(text: string): void {
    if (this.#given === null || text !== this.#given.text) return;
    this.#held = this.#given.consents;
    if (this.#held === this.#wanted) this.#isWider = false;
  }
}

/** A line for each grant, refusal and answer, so that a person finds them. */
function format(consents: KeptConsents): string {
  const { lasting, grants, refusals, history } = consents;
  const list = (items: readonly unknown[]): string => {
    if (items.length === 0) return '[]';
    return `[\n${items.map((item) => escapeHiddenInJson(JSON.stringify(item))).join(',\n')}\n]`;
  };
  return [
    `{"version":${VERSION},`,
    `"lasting":${JSON.stringify(lasting)},`,
    `"grants":${list(grants)},`,
    `"refusals":${list(refusals)},`,
    `"history":${list(history)},`,
    `"sha256":"${digestOf(consents)}"}\n`,
  ].join('\n');
}

function parse(path: string, text: string): KeptConsents {
  const record = parseJson(path, text);
  if (!isRecord(record)) throw refused(path, 'it has not the form that we write');
  if (record.version !== VERSION) throw refused(path, `its version is not ${VERSION}`);
  const { lasting, grants, refusals, history } = record;
  if (
    !isLasting(lasting) ||
    !isListOf(grants, isGrant) ||
    !isListOf(refusals, isRefusal) ||
    !isListOf(history, isEntry)
  ) {
    throw refused(path, 'it has not the form that we write');
  }
  const kept = { lasting, grants, refusals, history };
  if (record.sha256 !== digestOf(kept)) throw refused(path, 'its digest does not fit: it is damaged');
  return kept;
}

function digestOf({ lasting, grants, refusals, history }: KeptConsents): string {
  return createHash('sha256')
    .update(JSON.stringify([lasting, grants, refusals, history]))
    .digest('hex');
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refused(path, 'it is not JSON');
  }
}

function refusedFor(path: string, cause: unknown): RootsError {
  return new RootsError('STATE_REFUSED', { path, what: 'it cannot be read' }, { cause });
}

/** Where it lies now; null where it could not be moved. */
async function putAside(path: string): Promise<string | null> {
  const aside = `${path}.refused`;
  try {
    await rename(path, aside);
    return aside;
  } catch {
    return null;
  }
}

type Shape = Readonly<Record<string, 'string' | 'number' | 'strings' | 'text?'>>;

const KEY: Shape = {
  facts: 'strings',
  uid: 'number',
  path: 'string',
  identity: 'string',
  rule: 'string',
  digest: 'string',
};
const ASKER: Shape = { server: 'text?', class: 'string', host: 'text?', user: 'string' };
const MOMENT: Shape = { wallMs: 'number', boot: 'string', bootMs: 'number' };

function isGrant(value: unknown): value is Grant {
  const texts = { id: 'string', root: 'string', access: 'string', asked: 'string', scope: 'string' } as const;
  if (!has(value, { ...texts, session: 'text?', usedMs: 'number' })) return false;
  return has(value.key, KEY) && has(value.asker, ASKER) && isMoment(value.given);
}

function isRefusal(value: unknown): value is Refusal {
  const shape = { root: 'string', access: 'string', count: 'number', since: 'string' } as const;
  return has(value, shape) && has(value.key, KEY) && has(value.asker, ASKER);
}

function isEntry(value: unknown): value is ConsentEntry {
  return has(value, { time: 'string', event: 'string', id: 'string', path: 'string' }) && has(value.asker, ASKER);
}

function isLasting(value: unknown): value is LastingTime {
  return has(value, { ms: 'number' }) && isMoment(value.at);
}

function isMoment(value: unknown): value is Moment {
  return has(value, MOMENT);
}

function isListOf<T>(value: unknown, isItem: (item: unknown) => item is T): value is readonly T[] {
  return Array.isArray(value) && value.every(isItem);
}

function has(value: unknown, shape: Shape): value is Readonly<Record<string, unknown>> {
  return isRecord(value) && Object.entries(shape).every(([name, kind]) => isKind(value[name], kind));
}

function isKind(value: unknown, kind: Shape[string]): boolean {
  switch (kind) {
    case 'strings':
      return Array.isArray(value) && value.every((item) => typeof item === 'string');
    case 'text?':
      return value === null || typeof value === 'string';
    default:
      return typeof value === kind;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
