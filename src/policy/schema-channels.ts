import { exactlyOne, type JsonSchema, listOf, mapWith, misplaced, oneOfWords, plainText } from './schema-terms.ts';

const KINDS = ['roots', 'argv', 'env', 'config', 'cwd'];
const MEANINGS = ['keeps', 'nothing', 'everything'];

const KEYS_OF_ENV = ['name', 'separator', 'json', 'value'];
const KEYS_OF_CONFIG = ['path', 'key', 'format'];

/** A channel: one of five words, or a map where more must be said. */
export const CHANNEL: JsonSchema = {
  ...mapWith(
    {
      kind: oneOfWords(KINDS, 'Which channel.', { examples: ['env'] }),
      name: {
        type: 'string',
        pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
        patternErrorMessage: 'the name of an environment variable',
        description: 'Of `env`: the variable.',
        examples: ['MCP_ALLOWED_DIRS'],
      },
      separator: oneOfWords([',', ':', ';'], 'Of `env`: what stands between the paths of its list.', {
        examples: [','],
      }),
      json: { type: 'boolean', const: true, description: 'Of `env`: the list is a JSON array.', examples: [true] },
      value: plainText('Of `env`: one value with `{primary}` or `{root:NAME}` in it.', {
        pattern: '^(?=[^]*\\{(?:primary|root:[^{}]+)\\})(?![^]*\\{roots\\})',
        patternErrorMessage: 'a text with "{primary}" or "{root:NAME}" in it, and no "{roots}"',
        examples: ['{primary}/memory.jsonl'],
      }),
      path: plainText('Of `config`: the file; absolute, or below `~`.', { examples: ['~/.server/config.json'] }),
      key: {
        ...listOf(plainText('A key.'), 'Of `config`: the key of the list, or the keys that lead to it.', {
          minLength: 1,
          examples: ['allowedDirectories', ['files', 'allowed']],
        }),
        type: ['string', 'array'],
      },
      format: oneOfWords(['json', 'yaml', 'toml'], 'Of `config`: how it is written; `json` may have comments.', {
        default: 'json',
        examples: ['toml'],
      }),
      empty: oneOfWords(MEANINGS, 'What an empty list means to the server.', {
        default: 'keeps',
        examples: ['nothing'],
      }),
      error: oneOfWords(MEANINGS, 'What a list that it cannot use means to it.', {
        default: 'keeps',
        examples: ['nothing'],
      }),
    },
    'A channel.',
    {
      required: ['kind'],
      minLength: 1,
      pattern: `^(?:${KINDS.join('|')})$`,
      patternErrorMessage: 'roots, argv, env, config or cwd',
      allOf: [
        ofKind('env', KEYS_OF_ENV, { required: ['name'], ...exactlyOne(['separator', 'json', 'value']) }),
        ofKind('config', KEYS_OF_CONFIG, { required: ['path', 'key'] }),
      ],
      examples: ['roots', { kind: 'env', name: 'MCP_ALLOWED_DIRS', separator: ',' }],
    },
  ),
  type: ['string', 'object'],
};

/** What one kind must have, and the others must not. */
function ofKind(kind: string, keys: readonly string[], then: JsonSchema): JsonSchema {
  const others = keys.map((key) => [key, misplaced(`only "${kind}" has it`)]);
  return {
    if: { type: 'object', properties: { kind: { const: kind } } },
    then,
    else: { properties: Object.fromEntries(others) },
  };
}

/** `channels` of a server; the schema it stands in must define `channel`. */
export function channelsOf(description: string, extra: JsonSchema = {}): JsonSchema {
  return listOf({ $ref: '#/definitions/channel' }, description, extra);
}
