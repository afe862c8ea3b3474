// How a boundary reaches a server, and what that server does with it: from the catalogue and from policies.

/** What an environment variable is set to. */
export type EnvValue =
  | { readonly form: 'list'; readonly separator: string }
  | { readonly form: 'json' }
  /** With `{primary}` and the like, as in arguments. */
  | { readonly form: 'template'; readonly template: string };

/** `json` may have comments and trailing commas. */
export type ConfigFormat = 'json' | 'yaml' | 'toml';

/** A way a boundary reaches a server. */
export type Channel =
  | { readonly kind: 'roots' }
  /** Only where the command line that `rootsd run` is given holds placeholders. */
  | { readonly kind: 'argv' }
  | { readonly kind: 'env'; readonly name: string; readonly value: EnvValue }
  /** A list of paths in a file of the server's: `key` leads to it. */
  | { readonly kind: 'config'; readonly path: string; readonly key: readonly string[]; readonly format: ConfigFormat }
  | { readonly kind: 'cwd' };

export type ChannelKind = Channel['kind'];
export const CHANNEL_KINDS: readonly ChannelKind[] = ['roots', 'argv', 'env', 'config', 'cwd'];

/** What a server takes something for: what it had before, nothing at all, or the whole disk. */
export type Meaning = 'keeps' | 'nothing' | 'everything';

export interface DescribedChannel {
  readonly channel: Channel;
  /** What an empty list means there … */
  readonly empty: Meaning;
  /** … and a list, an entry or a file that it cannot use. */
  readonly error: Meaning;
}

/** A channel of a policy: described there, or `env` and `config` by name alone, as the catalogue describes them. */
export type ChosenChannel = ChannelKind | DescribedChannel;

/** What a server gets where nothing is allowed: an empty directory, its end, or the empty list. */
export type EmptyAnswer = 'tombstone' | 'stop' | 'empty';

export interface ServerTraits {
  /** What can carry the boundary to it, the best first; see carriersOf(). */
  readonly channels: readonly Channel[];
  /** Names of tool arguments that hold paths, beside those that everyone knows. */
  readonly paths: readonly string[];
  /** `cwd`: it resolves relative paths against its working directory. */
  readonly relativePaths: 'cwd' | 'pass';
  /** Its tools, as far as it is known which of them write. */
  readonly tools: Readonly<Record<string, 'read' | 'write'>>;
  /** How old its list must be before a call may rely on it. */
  readonly barrierMs: number;
  readonly empty: EmptyAnswer;
}

/** What holds of a server that nobody has described. */
export const UNKNOWN_SERVER: ServerTraits = {
  channels: [{ kind: 'roots' }, { kind: 'argv' }],
  paths: [],
  relativePaths: 'pass',
  tools: {},
  barrierMs: 50,
  empty: 'tombstone',
};

/**
 * The channels that carry the boundary: the first that can. Arguments can where the command line holds placeholders, and
 * then always do: whoever wrote them there wants them filled in.
 */
export function carriersOf(channels: readonly Channel[], hasPlaceholders: boolean): readonly Channel[] {
  const carriers = channels.filter(({ kind }) => kind !== 'argv' || hasPlaceholders);
  const all = hasPlaceholders && !carriers.some(isArgv) ? [...carriers, ARGV] : carriers;
  return all.filter((channel, i) => i === 0 || isArgv(channel));
}

const ARGV: Channel = { kind: 'argv' };

function isArgv({ kind }: Channel): boolean {
  return kind === 'argv';
}
