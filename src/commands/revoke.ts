// `rootsd revoke`: takes back what `rootsd allow` gave; says what else still allows the place.

import { escapeForTerminal } from '../core/display.ts';
import { isOver } from '../core/ending.ts';
import { type Evidence, rulesAbout } from '../core/evidence.ts';
import { removeAllowance } from '../policy/edit-local.ts';
import { whileAlone } from './edit-lock.ts';
import { EXIT, type Io, printJson, printLine } from './io.ts';
import { type CheckedEdit, checkTidied, type LocalPolicy, openLocalPolicy, refuseEdit } from './local-policy.ts';
import { type LocateOptions, locateMachine, type Machine } from './machine.ts';
import { isAround, isAt, readPlace } from './named-place.ts';

export interface RevokeOptions extends LocateOptions {
  readonly format: string;
  readonly server?: string;
}

interface Edited extends CheckedEdit {
  readonly text: string;
  readonly removed: readonly string[];
}

/** `rootsd revoke PATH`: 0 taken back, 1 where there was nothing of ours to take back or another rule still allows it. */
export async function revokeCommand(path: string, options: RevokeOptions, io: Io): Promise<number> {
  const machine = locateMachine(options, io, 'command');
  // What is gone from the disk can be revoked too.
  const place = readPlace(path, machine, io).path;
  return whileAlone(machine, () => revoke({ ...options, place, machine }, io));
}

interface Unwanted extends Pick<RevokeOptions, 'server' | 'format'> {
  readonly place: string;
  readonly machine: Machine;
}

async function revoke({ server, format, place, machine }: Unwanted, io: Io): Promise<number> {
  const local = await openLocalPolicy(machine, io);
  const edited = editAway(local, place, server);
  const { text, removed, after } = edited;
  if (after === null) return refuseEdit(edited, format, io);
  const written = removed.length > 0;
  if (written) await local.write(text);

  const still = stillAllowing(after, place, server);
  if (format === 'json') printJson(io, { written, path: place, removed, still });
  else {
    const nothing = `"rootsd allow" has given nobody ${place}: there is nothing to take back`;
    printLine(io, escapeForTerminal(written ? `Removed ${removed.join(', ')} from ${local.path}` : nothing));
    for (const rule of still) printLine(io, escapeForTerminal(`Rule ${rule} may still allow it: see "rootsd explain"`));
  }
  return written && still.length === 0 ? EXIT.yes : EXIT.no;
}

/** Without the rules of ours, and without the roots that nothing needs any more. */
function editAway(local: LocalPolicy, place: string, server: string | undefined): Edited {
  const roots = local.before.roots.filter((root) => isAt(root, place)).map(({ name }) => name);
  const edit = (keepsRoots: boolean): Edited => {
    const { text, removed } = removeAllowance(local.text, { roots, server, keepsRoots });
    if (removed.length === 0) return { text, removed, after: local.before, problems: [] };
    return { removed, ...checkTidied(local, text, Date.now()) };
  };
  const thorough = edit(false);
  // Another file, or a test, may name a root that is declared here.
  return thorough.after === null ? edit(true) : thorough;
}

/** Allow rules that speak of a root which is, or holds, this place (for that server). */
function stillAllowing(evidence: Evidence, place: string, server: string | undefined): readonly string[] {
  const rules = evidence.roots
    .filter((root) => isAround(root, place))
    .flatMap((root) => rulesAbout(evidence, root))
    .filter(
      (rule) =>
        rule.effect === 'allow' &&
        !isOver(rule, evidence.nowMs) &&
        (server === undefined || (rule.servers?.includes(server) ?? true)),
    );
  return [...new Set(rules.map(({ id, source }) => `"${id}" (${source.file}:${source.line})`))];
}
