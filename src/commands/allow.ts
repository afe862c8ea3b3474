// `rootsd allow`: a rule and, where there is none, a root in the user's local.yaml; checked first, effect shown.

import { basename } from 'node:path';
import type { Access } from '../core/access.ts';
import { escapeForTerminal } from '../core/display.ts';
import { momentText } from '../core/ending.ts';
import { RootsError } from '../core/errors.ts';
import type { Evidence } from '../core/evidence.ts';
import type { Effect } from '../core/rule.ts';
import { isName } from '../core/rule.ts';
import { type ExplainedDecision, explainTarget, nearServer } from '../daemon/explain.ts';
import { readUser } from '../disk/user-facts.ts';
import { addAllowance } from '../policy/edit-local.ts';
import { whileAlone } from './edit-lock.ts';
import { EXIT, type Io, printJson, printLine } from './io.ts';
import { checkTidied, openLocalPolicy, refuseEdit } from './local-policy.ts';
import { type LocateOptions, locateMachine, type Machine } from './machine.ts';
import { isAt, readPlace } from './named-place.ts';

export interface AllowOptions extends LocateOptions {
  readonly format: string;
  readonly server: string;
  readonly access: Access;
  /** How long; omitted: until it is revoked. */
  readonly for?: string;
}

const STATUS: Readonly<Record<Effect, number>> = { allow: EXIT.yes, deny: EXIT.no, ask: EXIT.undecided };
/** Names that policies refuse everywhere (prototype pollution). */
const NEVER_NAMES = ['constructor', 'prototype'];

/** `rootsd allow PATH --server S`: 0 allowed, 2 a person is asked all the same, 1 nothing was written. */
export async function allowCommand(path: string, options: AllowOptions, io: Io): Promise<number> {
  const { server } = options;
  const machine = locateMachine(options, io, 'command');
  const place = directoryAt(path, machine, io);
  if (!isName(server)) {
    throw new RootsError('USAGE', { what: `Cannot allow server "${server}": no policy can name a server so` });
  }
  const durationMs = options.for === undefined ? null : readDuration(options.for);
  return whileAlone(machine, () => allow({ ...options, place, machine, durationMs }, io));
}

interface Wanted extends Pick<AllowOptions, 'server' | 'access' | 'format'> {
  readonly place: string;
  readonly machine: Machine;
  readonly durationMs: number | null;
}

async function allow({ server, access, format, place, machine, durationMs }: Wanted, io: Io): Promise<number> {
  const local = await openLocalPolicy(machine, io);
  const nowMs = Date.now();
  const near = nearServer(local.before.policy, server);
  if (near !== undefined) io.stderr.write(`rootsd: no policy names a server "${server}": did you mean "${near}"?\n`);
  const known = local.before.roots.find((root) => isAt(root, place));
  const root = known?.name ?? newName(place, local.before);
  const declared = known === undefined ? { path: writtenPath(place, machine) } : {};
  const takenIds = local.before.policy.rules.map(({ id }) => id);
  const until = durationMs === null ? null : momentText(nowMs + durationMs);
  const ending = until === null ? {} : { until };
  const added = addAllowance(local.text, { server, root, access, takenIds, ...declared, ...ending });
  const { text, ...edit } = checkTidied(local, added, nowMs);
  if (edit.after === null) return refuseEdit(edit, format, io);

  const question = { server, target: root };
  const decision = explainTarget(edit.after, question, { source: 'files', own: readUser(machine.uid) });
  if (decision.effect !== 'deny') await local.write(text);
  const done = decision.effect === 'deny' ? 'Nothing written: it would have no effect' : `Written to ${local.path}`;
  report({ done, written: decision.effect !== 'deny', server, place, until, decision }, format, io);
  return STATUS[decision.effect];
}

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 24 * 3_600_000 };
const MAX_MS = 365 * 24 * 3_600_000;

/** `30m`, `8h`, `7d`, a year at most, in ms. Throws a RootsError USAGE for anything else. */
function readDuration(text: string): number {
  const [, count, unit] = /^([1-9]\d{0,5})([mhd])$/.exec(text) ?? [];
  const ms = Number(count) * (UNIT_MS[unit ?? ''] ?? Number.NaN);
  if (ms <= MAX_MS) return ms;
  const what = `Cannot allow it for "${text}": give minutes, hours or days, as 30m, 8h or 7d, at most 365d`;
  throw new RootsError('USAGE', { what });
}

/** Throws a RootsError USAGE for what is no directory, or cannot be written in a policy. */
function directoryAt(path: string, machine: Machine, io: Io): string {
  const place = readPlace(path, machine, io);
  if (place.is !== 'directory') {
    const why = place.is === 'nothing' ? 'there is no such directory' : 'it is not a directory';
    throw new RootsError('USAGE', { what: `Cannot use "${path}": ${why}` });
  }
  if (/\*|\$\{/.test(place.path)) {
    throw new RootsError('USAGE', {
      what: `Cannot use "${path}": a policy would read its stars or "\${" as more than a name`,
    });
  }
  return place.path;
}

function writtenPath(place: string, { home }: Machine): string {
  return place.startsWith(`${home}/`) ? `~${place.slice(home.length)}` : place;
}

/** A name for a root that no policy declares yet. */
function newName(place: string, { policy }: Evidence): string {
  const plain = basename(place)
    .replaceAll(/[^A-Za-z0-9._-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 60);
  const base = plain === '' ? 'root' : plain;
  const taken = new Set([...policy.roots.map(({ name }) => name), ...NEVER_NAMES]);
  for (let i = 1; ; i += 1) {
    const name = i === 1 ? base : `${base}-${i}`;
    if (!taken.has(name)) return name;
  }
}

interface Report {
  readonly done: string;
  readonly written: boolean;
  readonly server: string;
  readonly place: string;
  readonly until: string | null;
  readonly decision: ExplainedDecision;
}

function report({ done, written, server, place, until, decision }: Report, format: string, io: Io): void {
  if (format === 'json') {
    printJson(io, { written, path: place, server, until, decision });
    return;
  }
  const { effect, access, why } = decision;
  const answer = [effect, access].filter((part) => part !== null).join(' ');
  printLine(io, escapeForTerminal(`${place}: ${answer} for ${server}, because ${why}`));
  printLine(io, escapeForTerminal(done));
}
