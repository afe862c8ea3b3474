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

/** What a server gets where nothing is allowed: an empty directory, its end, or the empty list. */
export type EmptyAnswer = 'tombstone' | 'stop' | 'empty';

export interface ServerTraits {
  /** What carries the boundary to it, the best first. */
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
