/** Something that was opened. */
export interface Part {
  close(): void | Promise<void>;
}

export interface OpenPartsOptions {
  /** A close that failed; the others are closed all the same. */
  readonly onError: (error: unknown) => void;
  /** How long one close may take before the next one is begun, in ms. */
  readonly limitMs?: number;
}

/** What was opened, to be closed in reverse. */
export class OpenParts implements Part {
  readonly #parts: Part[] = [];
  readonly #options: OpenPartsOptions;

  constructor(options: OpenPartsOptions) {
    this.#options = options;
  }

  add<T extends Part>(part: T): T {
    this.#parts.push(part);
    return part;
  }

  async close(): Promise<void> {
    const { onError, limitMs = 5_000 } = this.#options;
    for (const part of this.#parts.splice(0).reverse()) {
      try {
        await within(limitMs, part.close());
      } catch (error) {
        onError(error);
      }
    }
  }
}

async function within(limitMs: number, closing: void | Promise<void>): Promise<void> {
  if (closing === undefined) return;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Closing took more than ${limitMs} ms`)), limitMs);
  });
  try {
    await Promise.race([closing, late]);
  } finally {
    clearTimeout(timer);
  }
}
