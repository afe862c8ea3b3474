import type { JsonObject } from './read-alike.ts';
import { SchemaPaths } from './schema-paths.ts';

interface Tool {
  readonly claimsReadOnly: boolean;
  readonly paths: SchemaPaths;
}

const NO_PATHS = new SchemaPaths(undefined);

/** What the server has said of its tools in `tools/list`. */
export class KnownTools {
  readonly #tools = new Map<string, Tool>();

  /** Takes the result of `tools/list`; what is no description of a tool is left out. */
  learn(result: unknown): void {
    const { tools } = (result ?? {}) as { readonly tools?: unknown };
    if (!Array.isArray(tools)) return;
    for (const tool of tools as readonly Partial<JsonObject>[]) {
      if (typeof tool?.name !== 'string') continue;
      const annotations = tool.annotations as { readonly readOnlyHint?: unknown } | undefined;
      const paths = new SchemaPaths(tool.inputSchema);
      this.#tools.set(tool.name, { claimsReadOnly: annotations?.readOnlyHint === true, paths });
    }
  }

  /** Does the server itself say that this tool only reads? Of a tool that was never listed it says nothing. */
  claimsReadOnly(name: string): boolean {
    return this.#tools.get(name)?.claimsReadOnly ?? false;
  }

  paths(name: string | null): SchemaPaths {
    return (name === null ? undefined : this.#tools.get(name)?.paths) ?? NO_PATHS;
  }
}
