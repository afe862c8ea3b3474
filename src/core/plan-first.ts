// Which servers must not be started before their plan is known. All others `rootsd run` starts while it asks for the plan.

import { type Catalogue, type ServerMatch, startsOne, traitsOf } from './catalogue.ts';
import { commandFits } from './match-peer.ts';
import type { ServerEntry } from './policy.ts';
import type { ChannelKind } from './server-traits.ts';

/** Beside the peers' socket, with its name before this: where the daemon says which ones. */
export const PLAN_FIRST_SUFFIX = '.plan-first.json';

/** Servers to which something else than roots and arguments can carry the boundary. */
export interface PlanFirst {
  /** Of the policy. */
  readonly names: readonly string[];
  readonly commands: readonly (readonly string[])[];
  /** Of the catalogue. */
  readonly matches: readonly ServerMatch[];
}

/** The servers of a catalogue and a policy that are started with their plan only. */
export function planFirst(catalogue: Catalogue, servers: Iterable<ServerEntry>): PlanFirst {
  const declared = [...servers].filter(({ channels = [] }) =>
    channels.some((one) => needsPlan(typeof one === 'string' ? one : one.channel.kind)),
  );
  return {
    names: declared.map(({ name }) => name),
    commands: declared.flatMap(({ selectors: { command } }) => (command === undefined ? [] : [command])),
    matches: catalogue
      .filter((known) => traitsOf(known, undefined).channels.some(({ kind }) => needsPlan(kind)))
      .map(({ match }) => match),
  };
}

function needsPlan(kind: ChannelKind): boolean {
  return kind !== 'roots' && kind !== 'argv';
}

/** May this server be started before its plan is known? */
export function startsEarly(
  { names, commands, matches }: PlanFirst,
  { server, argv }: { readonly server: string | null; readonly argv: readonly string[] },
): boolean {
  if (server !== null && names.includes(server)) return false;
  return !commands.some((command) => commandFits(command, argv)) && !matches.some((match) => startsOne(match, argv));
}
