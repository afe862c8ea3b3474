import { USER_PATTERN } from '../core/rule.ts';
import { channelsOf } from './schema-channels.ts';
import { flag, type JsonSchema, listOf, mapWith, nameOf, oneOfWords, plainText } from './schema-terms.ts';

/** A user as rules, tests and prompts name one. */
export const USER: JsonSchema = plainText('A login name, `uid:N` or `%group`.', {
  pattern: USER_PATTERN,
  patternErrorMessage: 'a login name, "uid:N" or "%group"',
  examples: ['ana', 'uid:1000', '%developers'],
});

export const SERVERS = listOf(nameOf('A server.'), 'Servers this is about; omitted: any.', {
  examples: [['filesystem', 'git']],
});
export const HOSTS = listOf(nameOf('A host.'), 'Hosts this is about; omitted: any.', { examples: [['vscode']] });
export const USERS = listOf(USER, 'Users this is about; omitted: any.', { examples: [['ana', '%developers']] });

const SELECTORS = {
  command: {
    type: ['array', 'string'],
    minItems: 1,
    minLength: 1,
    format: 'plain-text',
    items: plainText('One argument.'),
    description:
      'The beginning of its command line, as a list or as text split at blanks. The first word is compared by base name ' +
      'unless it is absolute; a package name also matches with "@version".',
    examples: [['npx', '-y', '@modelcontextprotocol/server-filesystem'], 'uvx mcp-server-git'],
  },
  socket: nameOf('It connects to the listener of this name (rootsd.yaml).', { examples: ['git'] }),
  exe: plainText('The program file it runs, absolute. Not an interpreter.', { examples: ['/usr/bin/mcp-git'] }),
  sha256: {
    type: 'string',
    pattern: '^[0-9A-Fa-f]{64}$',
    patternErrorMessage: 'the 64 hexadecimal digits of a SHA-256',
    description: 'The SHA-256 of the program file.',
    examples: ['e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  },
  require: oneOfWords(['claimed', 'launched', 'attested'], 'How well its identity must be known.', {
    default: 'claimed',
    examples: ['attested'],
  }),
} as const;

/** An entry of `hosts`. */
export const HOST: JsonSchema = mapWith(SELECTORS, 'A host; all selectors that are given must hold.', {
  examples: [{ command: ['code'] }],
});

/** An entry of `servers`. */
export const SERVER: JsonSchema = mapWith(
  {
    ...SELECTORS,
    roots: oneOfWords(['on', 'off'], 'off: roots are not announced and "roots/list" is refused.', {
      default: 'on',
      examples: ['off'],
    }),
    'host-roots': oneOfWords(['narrow', 'ignore'], 'What the roots of the host do to the policy’s.', {
      default: 'narrow',
      examples: ['ignore'],
    }),
    guard: oneOfWords(['on', 'off', 'strict'], 'Whether paths in tool calls are checked on the way.', {
      default: 'on',
      examples: ['strict'],
    }),
    paths: listOf(plainText('A name.'), 'Names of tool arguments that hold paths.', { examples: [['repo_path']] }),
    channels: channelsOf('How the boundary reaches this server, the best first; omitted: as the catalogue says.', {
      examples: [['argv'], [{ kind: 'env', name: 'MCP_ALLOWED_DIRS', separator: ',' }]],
    }),
    confine: oneOfWords(['none', 'best-effort', 'required'], 'Whether the kernel holds the boundary.', {
      default: 'none',
      examples: ['best-effort'],
    }),
  },
  'A server; all selectors that are given must hold.',
  { examples: [{ command: ['npx', '-y', '@modelcontextprotocol/server-filesystem'] }, { socket: 'git' }] },
);

/** `visible-to` of a prompt or of a value. */
export const VISIBLE_TO: JsonSchema = mapWith(
  { servers: SERVERS, hosts: HOSTS, users: USERS },
  'Who sees it; omitted: everyone who may use the endpoint.',
  { minProperties: 1, examples: [{ users: ['ana'] }] },
);

/** A yes-or-no setting whose default is no. */
export function offByDefault(description: string): JsonSchema {
  return flag(description, { default: false, examples: [true] });
}
