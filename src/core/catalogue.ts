// What is known of servers (config/servers.yaml): which one a command line starts, and what a policy makes of its traits.

import type { ServerEntry } from './policy.ts';
import {
  type Channel,
  type ChannelKind,
  type ChosenChannel,
  type DescribedChannel,
  type EmptyAnswer,
  type ServerTraits,
  UNKNOWN_SERVER,
} from './server-traits.ts';

/** By what a command line is known: any of these. */
export interface ServerMatch {
  readonly npm: readonly string[];
  readonly pypi: readonly string[];
  /** Base names of the program. */
  readonly command: readonly string[];
  readonly image: readonly string[];
}

export interface KnownServer {
  readonly name: string;
  readonly title: string;
  readonly match: ServerMatch;
  readonly channels: readonly DescribedChannel[];
  readonly paths: readonly string[];
  readonly relativePaths: ServerTraits['relativePaths'];
  readonly tools: ServerTraits['tools'];
  readonly barrierMs: number;
  /** What stands behind `rootsd run … --` by hand. */
  readonly example: readonly string[];
  /** In sentences: what to know before using it, and what nothing holds it to. */
  readonly warnings: readonly string[];
  readonly unenforced: readonly string[];
  readonly sources: readonly string[];
}

/** The first that matches is meant: those of the system's file stand first, then the user's, then ours. */
export type Catalogue = readonly KnownServer[];

/** What starts a package that it is given the name of. */
const LAUNCHERS = {
  npm: ['npx', 'npm', 'pnpm', 'pnpx', 'yarn', 'bun', 'bunx', 'deno'],
  pypi: ['uvx', 'uv', 'pipx'],
  image: ['docker', 'podman', 'nerdctl'],
};
const PYTHON = /^python[0-9.]*$/;

/** The server that a command line starts, or undefined where nobody has described it. */
export function knownServerFor(catalogue: Catalogue, argv: readonly string[]): KnownServer | undefined {
  return catalogue.find(({ match }) => startsOne(match, argv));
}

/** Does this command line start a server that is known by these? */
export function startsOne({ npm, pypi, command, image }: ServerMatch, argv: readonly string[]): boolean {
  const name = baseName(argv[0] ?? '');
  const names = (words: readonly string[], version: RegExp): boolean =>
    argv.some((arg) =>
      words.some((word) => arg === word || (arg.startsWith(word) && version.test(arg.slice(word.length)))),
    );
  return (
    command.includes(name) ||
    (LAUNCHERS.npm.includes(name) && names(npm, /^@[^/]+$/)) ||
    (LAUNCHERS.pypi.includes(name) && names(pypi, /^(?:\[[^\]]*\])?(?:@|[=<>~!]=?)[^/]+$|^\[[^\]]*\]$/)) ||
    (LAUNCHERS.image.includes(name) && names(image, /^[:@][^/]+$/)) ||
    (PYTHON.test(name) && argv.some((arg, i) => argv[i - 1] === '-m' && pypi.includes(arg.replaceAll('_', '-')))) ||
    argv.some((word) => npm.some((pack) => word.includes(`/node_modules/${pack}/`)))
  );
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** What holds of a server: what is known of it, and what its entry in the policy says. */
export function traitsOf(known: KnownServer | undefined, entry: ServerEntry | undefined): ServerTraits {
  const described = channelsOf(known, entry);
  const paths = [...new Set([...(known?.paths ?? []), ...(entry?.paths ?? [])])];
  return {
    channels: described.map(({ channel }) => channel),
    paths,
    relativePaths: known?.relativePaths ?? UNKNOWN_SERVER.relativePaths,
    tools: known?.tools ?? UNKNOWN_SERVER.tools,
    barrierMs: known?.barrierMs ?? UNKNOWN_SERVER.barrierMs,
    empty: emptyAnswer(described),
  };
}

/** The channels that the policy or the catalogue names, the best first; roots only where they are on. */
export function channelsOf(
  known: KnownServer | undefined,
  entry: Pick<ServerEntry, 'channels' | 'roots'> | undefined,
): readonly DescribedChannel[] {
  const chosen = entry?.channels?.flatMap((one) => (typeof one === 'string' ? describe(one, known) : [one]));
  const channels = chosen ?? known?.channels ?? UNKNOWN_SERVER.channels.map(ofUnknown);
  return channels.filter(({ channel }) => channel.kind !== 'roots' || entry?.roots !== false);
}

/** Is this a channel of which nobody says how it is done? */
export function isUndescribed(chosen: ChosenChannel, known: KnownServer | undefined): boolean {
  return typeof chosen === 'string' && describe(chosen, known).length === 0;
}

function describe(kind: ChannelKind, known: KnownServer | undefined): readonly DescribedChannel[] {
  const described = known?.channels.filter(({ channel }) => channel.kind === kind) ?? [];
  if (described.length > 0 || kind === 'env' || kind === 'config') return described;
  return [ofUnknown({ kind })];
}

/** Of a server that nobody has described it is safest to think that it keeps what it had. */
function ofUnknown(channel: Channel): DescribedChannel {
  return { channel, empty: 'keeps', error: 'keeps' };
}

/** The answer that is safe in every channel that could be empty; arguments never are. */
function emptyAnswer(channels: readonly DescribedChannel[]): EmptyAnswer {
  const meanings = channels.filter(({ channel }) => channel.kind !== 'argv').map(({ empty }) => empty);
  if (meanings.includes('everything')) return 'stop';
  return meanings.length === 0 || meanings.includes('keeps') ? 'tombstone' : 'empty';
}
