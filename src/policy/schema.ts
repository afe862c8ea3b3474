// The grammar of all files that an operator writes, as JSON Schema (draft-07): for validation, editors and the docs.

import { CATALOGUE_SCHEMA } from './schema-catalogue.ts';
import { CHANNEL } from './schema-channels.ts';
import { CONFIG_SCHEMA } from './schema-config.ts';
import { HOST, SERVER } from './schema-peers.ts';
import { PROMPT } from './schema-prompts.ts';
import { ROOT } from './schema-roots.ts';
import { CEILING_ITEM, RULE, TEST } from './schema-rules.ts';
import { accessOf, flag, type JsonSchema, listOf, mapOfNames, mapWith, plainText, VERSION } from './schema-terms.ts';

const DRAFT = 'http://json-schema.org/draft-07/schema#';

const ref = (name: string): JsonSchema => ({ $ref: `#/definitions/${name}` });

const POLICY_SCHEMA: JsonSchema = {
  $schema: DRAFT,
  title: 'rootsd policy',
  ...mapWith(
    {
      version: VERSION,
      roots: mapOfNames(ref('root'), 'Places this policy talks about, by name.', {
        examples: [{ frontend: { path: '~/repos/frontend' } }],
      }),
      servers: mapOfNames(ref('server'), 'Who asks, where a bare name is not enough.', {
        examples: [{ filesystem: { command: 'npx -y @modelcontextprotocol/server-filesystem' } }],
      }),
      hosts: mapOfNames(ref('host'), 'What servers run in, where a bare name is not enough.', {
        examples: [{ vscode: { command: ['code'] } }],
      }),
      rules: { type: 'array', items: ref('rule'), description: 'Who may use what. Their order has no meaning.' },
      ceiling: listOf(ref('ceiling-item'), 'Nothing outside these, whatever any rule says; omitted: no limit.', {
        examples: [['~/**', '/srv/data/**']],
      }),
      tests: { type: 'array', items: ref('test'), description: 'What this policy must decide.' },
      prompts: mapOfNames(ref('prompt'), 'Prompts that the endpoint offers, by name.'),
    },
    'Decides which directories each MCP server may use.',
    { required: ['version'] },
  ),
  definitions: {
    root: ROOT,
    server: SERVER,
    channel: CHANNEL,
    host: HOST,
    rule: RULE,
    'ceiling-item': CEILING_ITEM,
    test: TEST,
    prompt: PROMPT,
  },
};

const PROJECT_SCHEMA: JsonSchema = {
  $schema: DRAFT,
  title: 'rootsd project file (.rootsd.yaml)',
  ...mapWith(
    {
      version: VERSION,
      access: { ...accessOf('A cap for this root.'), enum: ['read-only'], examples: ['read-only'] },
      deny: listOf(
        plainText('A path relative to the root; "*" is one component, "/**" is all below.'),
        'Never exposed.',
        {
          examples: [['secrets', '.env']],
          maxItems: 100,
        },
      ),
      ask: flag('Ask a person even where the policy allows this root.', { default: false, examples: [true] }),
    },
    'Narrows what the policy grants on the root that holds this file; grants nothing itself.',
    { required: ['version'] },
  ),
};

/** The schemas by the name that `rootsd schema NAME` takes. */
export const SCHEMAS = {
  policy: POLICY_SCHEMA,
  config: { $schema: DRAFT, ...CONFIG_SCHEMA },
  servers: { $schema: DRAFT, ...CATALOGUE_SCHEMA },
  project: PROJECT_SCHEMA,
} as const satisfies Record<string, JsonSchema>;
export type SchemaName = keyof typeof SCHEMAS;
