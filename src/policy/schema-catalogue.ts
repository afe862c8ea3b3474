import { CHANNEL, channelsOf } from './schema-channels.ts';
import {
  type JsonSchema,
  listOf,
  mapOfNames,
  mapWith,
  oneOfWords,
  plainText,
  textOf,
  VERSION,
} from './schema-terms.ts';

const TOOLS = (description: string): JsonSchema =>
  listOf(plainText('A tool.'), description, { examples: [['read_file']] });
const NAMES = (description: string, examples: readonly string[]): JsonSchema =>
  listOf(plainText('A name.'), description, { examples: [examples] });
const SENTENCES = (description: string): JsonSchema => listOf(textOf('A sentence.'), description);

const KNOWN_SERVER: JsonSchema = mapWith(
  {
    title: textOf('What people call it.', { examples: ['Filesystem (reference server)'] }),
    match: mapWith(
      {
        npm: NAMES('Its npm packages.', ['@modelcontextprotocol/server-filesystem']),
        pypi: NAMES('Its Python packages.', ['mcp-server-git']),
        command: NAMES('Base names of its program.', ['mcp-server-git']),
        image: NAMES('Its container images.', ['mcp/filesystem']),
      },
      'By what a command line is known; any of these.',
      { minProperties: 1, examples: [{ npm: ['@modelcontextprotocol/server-filesystem'] }] },
    ),
    channels: channelsOf('What can carry the boundary to it, the best first; omitted: nothing can.'),
    paths: NAMES('Names of tool arguments that hold paths.', ['repo_path']),
    'relative-paths': oneOfWords(
      ['cwd', 'pass'],
      'cwd: it resolves relative paths against its working directory. pass: against something else.',
      { default: 'pass', examples: ['cwd'] },
    ),
    tools: mapWith(
      { read: TOOLS('Tools that only read.'), write: TOOLS('Tools that write.') },
      'Its tools, as far as it is known what they do.',
    ),
    'barrier-ms': {
      type: 'integer',
      minimum: 0,
      maximum: 1000,
      description: 'How old its list must be, in milliseconds, before a call may rely on it.',
      default: 50,
      examples: [100],
    },
    example: listOf(plainText('A word.'), 'The command to write behind `rootsd run … --`.', {
      examples: [['uvx', 'mcp-server-git', '--repository', '{primary}']],
    }),
    warnings: SENTENCES('What to know before using it.'),
    unenforced: SENTENCES('What nothing holds it to.'),
    sources: listOf(plainText('An address.'), 'Where this is known from.'),
  },
  'A server.',
  { required: ['title', 'match'] },
);

/** servers.yaml: the catalogue. */
export const CATALOGUE_SCHEMA = {
  title: 'rootsd catalogue of servers (servers.yaml)',
  ...mapWith(
    {
      version: VERSION,
      servers: mapOfNames({ $ref: '#/definitions/known-server' }, 'What is known of servers, by name.'),
    },
    'How a boundary reaches each server, and what that server does with it.',
    { required: ['version', 'servers'] },
  ),
  definitions: { channel: CHANNEL, 'known-server': KNOWN_SERVER },
} satisfies JsonSchema;
