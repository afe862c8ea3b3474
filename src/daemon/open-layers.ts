// Wires the layers to the disk: where they are read from, and where their last good state is kept.

import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { RootsError } from '../core/errors.ts';
import type { Expansions } from '../core/pattern.ts';
import { builtInLayer } from '../policy/built-in.ts';
import { type Prove, proveLayer } from '../policy/prove-layer.ts';
import { proveOnce } from '../policy/prove-once.ts';
import { readLayer } from '../policy/read-layer.ts';
import { readSettled } from '../policy/read-settled.ts';
import type { LastGood } from '../state/last-good.ts';
import { type FileLayer, type LayerReading, type LayerSource, Layers, type Restored } from './layers.ts';

export interface LayersOptions {
  readonly expansions: Expansions;
  readonly uid: number;
  readonly directories: { readonly system: string; readonly user: string };
  /** rootsd's own files and directories, which no root may expose. */
  readonly own: readonly string[];
  /** Names of the listeners of rootsd.yaml. */
  readonly listeners: readonly string[];
  /** Where last good states are kept; null: nowhere (commands that only look). */
  readonly lastGood: LastGood | null;
  /** Where texts become policies: apart, where peers are served meanwhile; here and now when omitted. */
  readonly prove?: Prove;
  /** ms since the epoch */
  readonly now: () => number;
}

/** The layers of this user, not read yet. */
export function createLayers(options: LayersOptions): Layers {
  const { expansions, own, now } = options;
  const builtIn = builtInLayer({ expansions, own, realHome: realPlace(expansions.home) });
  return new Layers(builtIn, [sourceOf('system', options), sourceOf('user', options)], now);
}

function sourceOf(layer: FileLayer, options: LayersOptions): LayerSource {
  const { expansions, uid, listeners, lastGood } = options;
  const prove = proveOnce(options.prove ?? proveLayer);
  const directory = options.directories[layer];
  return {
    layer,
    directory,
    async read(upper): Promise<LayerReading> {
      const trust = { uid, home: expansions.home };
      const read = () => readLayer({ layer, directory, expansions, trust, upper, listeners, prove });
      const reading = await readSettled(directory, read);
      // All files gone is as much a disappearance as the directory gone: a layer without policies says nothing.
      return reading.state === 'good' && reading.texts.length === 0 ? { state: 'absent' } : reading;
    },
    async restore(upper): Promise<Restored> {
      const kept = (await lastGood?.load(layer)) ?? { state: 'absent' };
      if (kept.state !== 'good') return kept;
      // Kept from another directory that was configured then: it says nothing about this one.
      if (kept.files.some(({ path }) => dirname(path) !== directory)) return { state: 'absent' };
      const { policy, problems } = await prove({ layer, files: kept.files, expansions, upper, listeners });
      if (policy !== null) return { state: 'good', policy };
      const unproven = problems.find(({ code }) => code === 'POLICY_NOT_PROVEN');
      const what = unproven?.message ?? 'it is wrong under the layers above it as they are now';
      return { state: 'refused', error: new RootsError('STATE_REFUSED', { path: `${layer} layer`, what }) };
    },
    async remember(texts) {
      await lastGood?.save(layer, texts);
    },
    async forget() {
      await lastGood?.remove(layer);
    },
  };
}

/** Where a directory really is; as it is named where that cannot be told. */
function realPlace(directory: string): string {
  try {
    return realpathSync.native(directory);
  } catch {
    return directory;
  }
}
