// `rootsd allow` and `rootsd revoke`: edit the user's local.yaml, checked first, effect shown.

import { basename, resolve } from 'node:path';
import type { Access } from '../core/access.ts';
import { escapeForTerminal } from '../core/display.ts';
import { RootsError } from '../core/errors.ts';
import type { Evidence } from '../core/evidence.ts';
import type { RootFacts } from '../core/place.ts';
import type { Effect } from '../core/rule.ts';
import { type ExplainedDecision, explainTarget } from '../daemon/explain.ts';
import { resolvePath } from '../disk/resolve.ts';
import { readUser } from '../disk/user-facts.ts';
import { addAllowance, removeAllowance } from '../policy/edit-local.ts';
import { problemLine } from '../policy/format-problem.ts';
import { EXIT, type Io, printJson, printLine } from './io.ts';
import { type CheckedEdit, type LocalPolicy, openLocalPolicy } from './local-policy.ts';
import { type LocateOptions, locateMachine, type Machine } from './machine.ts';

export interface AllowOptions extends LocateOptions {
  readonly format: string;
  readonly server: string;
  readonly access: Access;
}

export interface RevokeOptions extends LocateOptions {
  readonly format: string;
  readonly server?: string;
}

const STATUS: Readonly<Record<Effect, number>> = { allow: EXIT.yes, deny: EXIT.no, ask: EXIT.undecided };

/** `rootsd allow PATH --server S`: 0 allowed, 2 a person is asked all the same, 1 nothing was written. */
export async function allowCommand(path: string, options: AllowOptions, io: Io): Promise<number> {
  const machine = locateMachine(options, io, 'command');
  const place = placeOf(path, machine, io);
  const local = await openLocalPolicy(machine);
  const known = local.before.roots.find((root) => isAt(root, place));
  const root = known?.name ?? newName(place, local.before);
  const { server, access } = options;
  const declared = known === undefined ? { path: writtenPath(place, machine) } : {};
  const text = addAllowance(local.text, { server, root, access, ...declared });
  const edit = local.check(text);
  if (edit.after === null) return refuse(edit, options.format, io);

  const decision = decisionFor(edit.after, root, server, machine);
  if (decision.effect !== 'deny') await local.write(text);
  const done = decision.effect === 'deny' ? 'Nothing written: it would have no effect' : `Written to ${local.path}`;
  report({ done, written: decision.effect !== 'deny', server, place, decision }, options.format, io);
  return STATUS[decision.effect];
}

/** `rootsd revoke PATH`: 0 taken back, 1 where there was nothing of ours to take back or another rule still allows it. */
export async function revokeCommand(path: string, options: RevokeOptions, io: Io): Promise<number> {
  const machine = locateMachine(options, io, 'command');
  const place = placeOf(path, machine, io);
  const local = await openLocalPolicy(machine);
  const names = local.before.roots.filter((root) => isAt(root, place)).map(({ name }) => name);
  const edited = names.reduce(
    (so, root) => {
      const { text, removed } = removeAllowance(so.text, { root, server: options.server });
      return removed.length === 0 ? so : { text, removed: [...so.removed, ...removed] };
    },
    { text: local.text, removed: [] as readonly string[] },
  );
  if (edited.removed.length === 0) return nothingToRevoke(place, local, options, io);
  const edit = local.check(edited.text);
  if (edit.after === null) return refuse(edit, options.format, io);
  await local.write(edited.text);
  const still = stillAllowed(edit.after, place);
  if (options.format === 'json') printJson(io, { written: true, path: place, removed: edited.removed, still });
  else {
    printLine(io, escapeForTerminal(`Removed ${edited.removed.join(', ')} from ${local.path}`));
    for (const rule of still) printLine(io, escapeForTerminal(`Rule ${rule} may still allow it: see "rootsd explain"`));
  }
  return still.length === 0 ? EXIT.yes : EXIT.no;
}

function nothingToRevoke(place: string, local: LocalPolicy, { format }: RevokeOptions, io: Io): number {
  const still = stillAllowed(local.before, place);
  if (format === 'json') printJson(io, { written: false, path: place, removed: [], still });
  else {
    printLine(io, escapeForTerminal(`"rootsd allow" has given nobody ${place}: there is nothing to take back`));
    for (const rule of still) printLine(io, escapeForTerminal(`Rule ${rule} may allow it: that one is yours to edit`));
  }
  return EXIT.no;
}

/** The real directory that is meant. Throws a RootsError USAGE for what is not there or cannot be written in a policy. */
function placeOf(path: string, { home }: Machine, io: Io): string {
  const absolute = path === '~' || path.startsWith('~/') ? `${home}${path.slice(1)}` : resolve(io.cwd(), path);
  const resolved = resolvePath(absolute);
  if (!resolved.ok) throw new RootsError('USAGE', { what: `Cannot use "${path}": it ${resolved.why}` });
  if (resolved.stat === null)
    throw new RootsError('USAGE', { what: `Cannot use "${path}": there is no such directory` });
  if (!resolved.stat.isDirectory()) {
    throw new RootsError('USAGE', { what: `Cannot use "${path}": it is not a directory` });
  }
  if (/(^|\/)\*\*?(\/|$)|\$\{/.test(resolved.path)) {
    throw new RootsError('USAGE', {
      what: `Cannot use "${path}": a policy would read its stars or "\${" as more than a name`,
    });
  }
  return resolved.path;
}

function isAt(root: RootFacts, place: string): boolean {
  return root.place?.path === place;
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
  const taken = new Set(policy.roots.map(({ name }) => name));
  for (let i = 1; ; i += 1) {
    const name = i === 1 ? base : `${base}-${i}`;
    if (!taken.has(name)) return name;
  }
}

function decisionFor(after: Evidence, root: string, server: string, { uid }: Machine): ExplainedDecision {
  return explainTarget(after, { server, target: root }, { source: 'files', own: readUser(uid) });
}

/** Allow rules that name a root at this place. */
function stillAllowed({ roots, grants }: Evidence, place: string): readonly string[] {
  const here = roots.filter((root) => isAt(root, place));
  const rules = here.flatMap((root) => grants.get(root.declaration.name) ?? []);
  const allowing = rules.filter(({ effect }) => effect === 'allow');
  return [...new Set(allowing.map(({ id, source }) => `"${id}" (${source.file}:${source.line})`))];
}

function refuse({ problems }: CheckedEdit, format: string, io: Io): number {
  if (format === 'json') printJson(io, { written: false, problems });
  else for (const problem of problems) io.stderr.write(`${problemLine(problem)}\n`);
  io.stderr.write('rootsd: nothing was written: the policy would be wrong\n');
  return EXIT.no;
}

interface Report {
  readonly done: string;
  readonly written: boolean;
  readonly server: string;
  readonly place: string;
  readonly decision: ExplainedDecision;
}

function report({ done, written, server, place, decision }: Report, format: string, io: Io): void {
  if (format === 'json') {
    printJson(io, { written, path: place, server, decision });
    return;
  }
  const { effect, access, why } = decision;
  printLine(
    io,
    escapeForTerminal(`${place}: ${[effect, access].filter(Boolean).join(' ')} for ${server}, because ${why}`),
  );
  printLine(io, escapeForTerminal(done));
}
