import { foldName } from './path-names.ts';
import type { JsonObject } from './read-alike.ts';

/** JSON Schema has only `uri`; the others are what generators of schemas write. */
const PATH_FORMAT = /^(?:path|file|uri|uri-reference|(?:file|directory)-?path)$/;

interface Tool {
  readonly claimsReadOnly: boolean;
  /** Of properties that hold paths, folded. */
  readonly pathNames: ReadonlySet<string>;
}

const NO_NAMES: ReadonlySet<string> = new Set();

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
      const pathNames = namesOfPaths(tool.inputSchema);
      this.#tools.set(tool.name, { claimsReadOnly: annotations?.readOnlyHint === true, pathNames });
    }
  }

  /** Does the server itself say that this tool only reads? Of a tool that was never listed it says nothing. */
  claimsReadOnly(name: string): boolean {
    return this.#tools.get(name)?.claimsReadOnly ?? false;
  }

  pathNames(name: string): ReadonlySet<string> {
    return this.#tools.get(name)?.pathNames ?? NO_NAMES;
  }
}

/** The properties of a schema, at any depth, that have the format of a path or URI; of an array its elements have it. */
function namesOfPaths(schema: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  const ahead: { readonly node: unknown; readonly name: string }[] = [{ node: schema, name: '' }];
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    const { node, name } = next;
    if (typeof node !== 'object' || node === null) continue;
    const { format, properties } = node as { readonly format?: unknown; readonly properties?: unknown };
    if (typeof format === 'string' && PATH_FORMAT.test(format)) names.add(foldName(name));
    for (const [key, child] of Object.entries(node)) if (key !== 'properties') ahead.push({ node: child, name });
    for (const [property, child] of Object.entries(properties ?? {})) ahead.push({ node: child, name: property });
  }
  return names;
}
