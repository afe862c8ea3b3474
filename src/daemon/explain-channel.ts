// What carries the boundary to a server, what to know of it, and honestly what nothing holds it to, in sentences.

import { channelsOf, isUndescribed, type KnownServer } from '../core/catalogue.ts';
import type { ServerEntry } from '../core/policy.ts';
import { type Channel, carriersOf, type DescribedChannel } from '../core/server-traits.ts';

export interface DescribedServer {
  /** undefined: nobody has described it. */
  readonly known: KnownServer | undefined;
  readonly entry: ServerEntry | undefined;
  /** It is no server: MCP clients that do not say who they are have this name. */
  readonly isEndpoint: boolean;
}

const WITH_PLACEHOLDERS = 'argv where its command line has placeholders';

/** What carries the boundary, in one line. */
export function channelText(server: DescribedServer): string {
  if (server.isEndpoint) return 'rootsd itself, as an MCP server ("rootsd mcp")';
  const carriers = carriersWithoutArguments(server).map(({ channel }) => nameOf(channel));
  return [...carriers, WITH_PLACEHOLDERS].join(', ');
}

/** What to know of this server. */
export function warningsFor({ known, entry, isEndpoint }: DescribedServer): readonly string[] {
  if (isEndpoint)
    return ['This is who an MCP client of rootsd is that says no other name ("rootsd mcp --server NAME")'];
  const unknown = known === undefined ? [whyUnknown(entry)] : [];
  const stops = channelsOf(known, entry).some(({ empty }) => empty === 'everything')
    ? ['An empty list means the whole disk to it: where nothing is allowed it is stopped']
    : [];
  return [...unknown, ...(known?.warnings ?? []), ...stops];
}

function whyUnknown(entry: ServerEntry | undefined): string {
  if (entry?.selectors.command === undefined)
    return 'Nothing is known of this server: the policy names no command for it ("command" of its entry in "servers" does), by which the catalogue would know it';
  return 'Nothing is known of this server: no command of its entry in the policy stands in the catalogue';
}

/** What nothing holds this server to: what is told is not enforced. */
export function unenforcedFor(
  server: DescribedServer,
  { isReadOnlyTold }: { readonly isReadOnlyTold: boolean },
): readonly string[] {
  const { known, entry, isEndpoint } = server;
  if (isEndpoint) return ['What the client reads by other means than through rootsd is its own affair'];
  const carriers = carriersWithoutArguments(server);
  const undescribed = (entry?.channels ?? []).filter((channel) => isUndescribed(channel, known));
  return [
    'It can open any file that its user can open: the list is told, not enforced',
    ...unguardedFor(server),
    ...(entry?.roots === false ? ['Roots are off for it: only its other channels can carry the list'] : []),
    ...(carriers.length === 0 ? ['Nothing tells it the list, unless its command line has placeholders'] : []),
    ...undescribed.map((kind) => `Channel "${kind}" carries nothing: neither the policy nor the catalogue says how`),
    ...(carriers.some(({ error }) => error === 'everything')
      ? ['A list that it cannot use means the whole disk to it']
      : []),
    ...(known?.unenforced ?? []),
    ...(isReadOnlyTold ? ['"read-only" is held in tool calls: what else the server does is its own affair'] : []),
  ];
}

/** What the guard does not see in calls. */
function unguardedFor({ known, entry }: DescribedServer): readonly string[] {
  if (entry?.guard === 'off') return ['Paths in tool calls are not checked: the guard is off'];
  return [
    'Paths in tool calls are checked only behind "rootsd run"',
    ...(known?.relativePaths === 'cwd'
      ? []
      : ['Relative paths in tool calls pass, unless they hold "..": what they mean is not known']),
  ];
}

function carriersWithoutArguments({ known, entry }: DescribedServer): readonly DescribedChannel[] {
  const described = channelsOf(known, entry);
  const carriers = carriersOf(
    described.map(({ channel }) => channel),
    false,
  );
  return described.filter(({ channel }) => carriers.includes(channel));
}

function nameOf(channel: Channel): string {
  switch (channel.kind) {
    case 'env':
      return `env ${channel.name}`;
    case 'config':
      return `config ${channel.path} (${channel.key.join('.')})`;
    case 'cwd':
      return 'its working directory';
    case 'roots':
    case 'argv':
      return channel.kind;
  }
}
