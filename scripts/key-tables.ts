// The tables of keys in docs/policy.md, from the JSON Schemas: one between each `<!-- keys of NAME -->` and `<!-- end -->`.

import { NAME_PATTERN } from '../src/core/rule.ts';
import { SCHEMAS } from '../src/policy/schema.ts';
import type { JsonSchema } from '../src/policy/schema-terms.ts';

/** What we read of a schema. */
export interface Node extends JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly items?: Node;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: boolean | Node;
  readonly required?: readonly string[];
  readonly propertyNames?: Node;
}

const DEFINITIONS = SCHEMAS.policy.definitions as Readonly<Record<string, Node>>;

/** The maps of the language, by the name that the page uses. */
export function keyedMaps(): Readonly<Record<string, Node>> {
  const { prompt = {} } = DEFINITIONS;
  const argument = prompt.properties?.arguments?.additionalProperties as Node;
  return { policy: SCHEMAS.policy, ...DEFINITIONS, argument, project: SCHEMAS.project };
}

/** The page with all its tables as the schemas have them now. Throws where it names a map that there is not. */
export function withKeyTables(page: string): string {
  const maps = keyedMaps();
  return page.replace(
    /(<!-- keys of (\S+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, begin: string, name: string, end: string) => {
      const map = maps[name];
      if (map === undefined)
        throw new Error(`docs/policy.md names the keys of "${name}", which the schema does not have`);
      return `${begin}\n${keyTable(map)}\n\n${end}`;
    },
  );
}

/** The keys of a map as a table. */
export function keyTable({ properties = {}, required = [] }: Node): string {
  const rows = Object.entries(properties).map(([key, node]) => [
    `\`${key}\`${required.includes(key) ? ' (required)' : ''}`,
    valueText(node),
    node.default === undefined ? '' : `\`${shown(node.default)}\``,
    escapeStars(node.description ?? ''),
  ]);
  const head = ['key', 'value', 'default', 'meaning'];
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

function valueText(node: Node): string {
  if (node.const !== undefined) return `\`${shown(node.const)}\``;
  if (node.enum !== undefined) return node.enum.map((word) => `\`${shown(word)}\``).join(', ');
  if (node.pattern === NAME_PATTERN) return 'name';
  if (node.additionalProperties !== undefined && node.propertyNames !== undefined) return 'map by name';
  return [node.type ?? 'object']
    .flat()
    .map((type) => wordFor(type, node))
    .join(', or ');
}

function wordFor(type: string, { items }: Node): string {
  switch (type) {
    case 'array':
      return items?.type === undefined || [items.type].flat().length > 1 ? 'list' : `list of ${valueText(items)}`;
    case 'object':
      return 'map';
    case 'string':
      return 'text';
    case 'boolean':
      return '`true`, `false`';
    default:
      return type;
  }
}

/** Stars outside of code spans are no emphasis. */
function escapeStars(text: string): string {
  return text.replace(/`[^`]*`|\*/g, (part) => (part === '*' ? '\\*' : part));
}

function shown(value: unknown): string {
  return Array.isArray(value) ? `[${value.join(', ')}]` : String(value);
}
