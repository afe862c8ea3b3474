import type { ByteReader, ByteSource } from '../../src/run/bytes.ts';

/** Hands out chunks in one reused buffer, as a socket does. */
export class ChunkSource implements ByteSource {
  readonly #chunks: Buffer[];
  readonly #buffer = Buffer.alloc(65_536);
  #reader: ByteReader | null = null;

  constructor(chunks: readonly Buffer[]) {
    this.#chunks = [...chunks];
  }

  start(reader: ByteReader): void {
    this.#reader = reader;
    this.resume();
  }

  resume(): void {
    for (let chunk = this.#chunks.shift(); chunk !== undefined; chunk = this.#chunks.shift()) {
      this.#buffer.fill('!');
      chunk.copy(this.#buffer);
      if (!this.#reader?.take(this.#buffer.subarray(0, chunk.length))) return;
    }
    this.#reader?.ended();
  }

  close(): void {
    this.#reader = null;
  }
}

/** Cuts bytes into pieces of these sizes, over and over. */
export function cut(bytes: Buffer, sizes: readonly number[]): readonly Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0, i = 0; at < bytes.length; i += 1) {
    const size = sizes[i % sizes.length] ?? 65_536;
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}
