import type { Catalogue, KnownServer } from '../core/catalogue.ts';
import type { Expansions } from '../core/pattern.ts';
import { type DescribedChannel, UNKNOWN_SERVER } from '../core/server-traits.ts';
import { compileChannels } from './compile-channels.ts';
import type { PolicySource } from './policy-source.ts';
import type { RawChannel } from './raw-policy.ts';
import { pointerTo } from './yaml-file.ts';

/** An entry of a catalogue whose schema holds. */
interface RawKnownServer {
  readonly title: string;
  readonly match: Partial<KnownServer['match']>;
  readonly channels?: readonly RawChannel[];
  readonly paths?: readonly string[];
  readonly 'relative-paths'?: 'cwd' | 'pass';
  readonly tools?: { readonly read?: readonly string[]; readonly write?: readonly string[] };
  readonly 'barrier-ms'?: number;
  readonly example?: readonly string[];
  readonly warnings?: readonly string[];
  readonly unenforced?: readonly string[];
  readonly sources?: readonly string[];
}

export interface RawCatalogue {
  readonly servers: Readonly<Record<string, RawKnownServer>>;
}

/** The servers of a catalogue, in the order of the file. Its schema holds; what else is wrong is reported to `source`. */
export function compileCatalogue(source: PolicySource, expansions: Expansions): Catalogue {
  return Object.entries((source.value as RawCatalogue).servers).map(([name, raw]): KnownServer => {
    const { npm = [], pypi = [], command = [], image = [] } = raw.match;
    return {
      name,
      title: raw.title,
      match: { npm, pypi, command, image },
      channels: describedChannels(source, expansions, name, raw.channels ?? []),
      paths: raw.paths ?? [],
      relativePaths: raw['relative-paths'] ?? UNKNOWN_SERVER.relativePaths,
      tools: toolsOf(raw.tools ?? {}),
      barrierMs: raw['barrier-ms'] ?? UNKNOWN_SERVER.barrierMs,
      example: raw.example ?? [],
      warnings: raw.warnings ?? [],
      unenforced: raw.unenforced ?? [],
      sources: raw.sources ?? [],
    };
  });
}

/** Here nobody knows more than what stands: `env` and `config` need a map. */
function describedChannels(
  source: PolicySource,
  expansions: Expansions,
  name: string,
  channels: readonly RawChannel[],
): readonly DescribedChannel[] {
  const pointer = pointerTo(pointerTo('/servers', name), 'channels');
  return compileChannels(source, { expansions }, pointer, channels).flatMap((chosen, i): DescribedChannel[] => {
    if (typeof chosen !== 'string') return [chosen];
    if (chosen !== 'env' && chosen !== 'config') return [{ channel: { kind: chosen }, empty: 'keeps', error: 'keeps' }];
    source.refuse('CATALOGUE_CHANNEL', pointerTo(pointer, i), { kind: chosen });
    return [];
  });
}

function toolsOf({ read = [], write = [] }: NonNullable<RawKnownServer['tools']>): KnownServer['tools'] {
  return Object.fromEntries([...read.map((tool) => [tool, 'read']), ...write.map((tool) => [tool, 'write'])]);
}
