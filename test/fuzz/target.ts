import type { Material } from './mutate.ts';

/** Something that reads what others write. */
export interface Target extends Material {
  readonly name: string;
  /** How many inputs are run between two looks at the coverage: about as long as a look takes. */
  readonly batch: number;
  /** Throws where a promise is broken. Must be the same for the same input. */
  check(input: Buffer): void;
}

/** Texts as material. */
export function material(corpus: readonly string[], words: readonly string[]): Material {
  return { corpus: corpus.map((text) => Buffer.from(text)), words: words.map((word) => Buffer.from(word)) };
}
