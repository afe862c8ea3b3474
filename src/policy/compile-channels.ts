import { patternPath } from '../core/pattern.ts';
import type { Channel, ChosenChannel, EnvValue } from '../core/server-traits.ts';
import { compilePath } from './compile-path.ts';
import type { LayerScope } from './layer-scope.ts';
import type { PolicySource } from './policy-source.ts';
import type { RawChannel } from './raw-policy.ts';
import { type Pointer, pointerTo } from './yaml-file.ts';

/** The channels that stand at `pointer`. A word is left to the catalogue, which knows more of it. */
export function compileChannels(
  source: PolicySource,
  scope: Pick<LayerScope, 'expansions'>,
  pointer: Pointer,
  channels: readonly RawChannel[],
): readonly ChosenChannel[] {
  return channels.map((raw, i) => {
    if (typeof raw === 'string') return raw;
    const { empty = 'keeps', error = 'keeps' } = raw;
    return { channel: channelFrom(source, scope, pointerTo(pointer, i), raw), empty, error };
  });
}

function channelFrom(
  source: PolicySource,
  { expansions }: Pick<LayerScope, 'expansions'>,
  pointer: Pointer,
  raw: Exclude<RawChannel, string>,
): Channel {
  if (raw.kind === 'env') return { kind: 'env', name: raw.name, value: envValueOf(raw) };
  if (raw.kind !== 'config') return { kind: raw.kind };
  const pattern = compilePath(source, pointerTo(pointer, 'path'), raw.path, { expansions, stars: false });
  const path = pattern === null ? raw.path : patternPath(pattern);
  return { kind: 'config', path, key: [raw.key].flat(), format: raw.format ?? 'json' };
}

function envValueOf({ separator, value }: Extract<RawChannel, { readonly kind: 'env' }>): EnvValue {
  if (separator !== undefined) return { form: 'list', separator };
  return value === undefined ? { form: 'json' } : { form: 'template', template: value };
}
