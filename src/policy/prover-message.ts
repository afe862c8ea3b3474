import type { LayerFile, LayerInput } from './compile-layer.ts';

/**
 * What a Prover says to its thread: files and pieces (layer-pieces.ts) come one by one, then what is to be made of them. One
 * message for all of it would be cloned in one go.
 */
export type ProverMessage =
  | { readonly kind: 'file'; readonly file: LayerFile }
  /** Of a layer above that the thread does not hold. */
  | { readonly kind: 'piece'; readonly of: number; readonly piece: string }
  | Proof;

/** The thread holds what it proves under this number, and the layers above it, until the next one. */
export interface Proof {
  readonly kind: 'prove';
  readonly number: number;
  readonly input: Omit<LayerInput, 'files' | 'upper'>;
  /** The numbers of the layers above, upper ones first. */
  readonly upper: readonly number[];
}
