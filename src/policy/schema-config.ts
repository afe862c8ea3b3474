import { LOG_LEVELS } from '../core/log-event.ts';
import { CONFIG_DEFAULTS } from './config-defaults.ts';
import { type JsonSchema, listOf, mapOfNames, mapWith, oneOfWords, plainText, VERSION } from './schema-terms.ts';

function size(description: string, value: string): JsonSchema {
  return {
    type: 'string',
    pattern: '^[1-9][0-9]{0,5}(?:KiB|MiB|GiB)$',
    patternErrorMessage: 'a size, as "512KiB" or "4MiB"',
    description,
    default: value,
    examples: [value],
  };
}

function count(description: string, value: number, maximum: number): JsonSchema {
  return { type: 'integer', minimum: 1, maximum, description, default: value, examples: [value] };
}

const LISTENER = mapWith(
  {
    path: plainText('Its socket; relative to the directory of the sockets.', { examples: ['git.sock'] }),
    mode: {
      type: 'string',
      pattern: '^0[0-7]{3}$',
      patternErrorMessage: 'four octal digits in quotes, as "0600"',
      description: 'Its file mode.',
      default: CONFIG_DEFAULTS.listenerMode,
      examples: ['0600'],
    },
    speaks: oneOfWords(
      ['server', 'client'],
      'server: the peer asks for its roots. client: we are its MCP client (not built yet).',
      {
        default: 'server',
        examples: ['server'],
      },
    ),
  },
  'A socket for one server name: who can reach it is that server.',
  { required: ['path'], examples: [{ path: 'git.sock', mode: '0600', speaks: 'server' }] },
);

/** rootsd.yaml. Every setting is optional. */
export const CONFIG_SCHEMA: JsonSchema = {
  title: 'rootsd configuration (rootsd.yaml)',
  ...mapWith(
    {
      version: VERSION,
      layers: mapWith(
        {
          system: plainText('Policies of the machine.', {
            default: CONFIG_DEFAULTS.systemLayer,
            examples: [CONFIG_DEFAULTS.systemLayer],
          }),
          user: plainText('Policies of the user.', {
            default: CONFIG_DEFAULTS.userLayer,
            examples: [CONFIG_DEFAULTS.userLayer],
          }),
        },
        'Directories of policy files.',
      ),
      listeners: mapOfNames(LISTENER, 'Further sockets, by the name that `socket:` of a server uses.', { default: {} }),
      limits: mapWith(
        {
          message: size('The longest message a peer may send.', CONFIG_DEFAULTS.message),
          sessions: count('Open sessions at a time.', CONFIG_DEFAULTS.sessions, 1_000_000),
          queue: size('What may wait behind the message that is being written.', CONFIG_DEFAULTS.queue),
        },
        'Bounds on what peers can use up.',
      ),
      log: mapWith(
        {
          level: oneOfWords(LOG_LEVELS, 'The least important line that is logged.', {
            default: CONFIG_DEFAULTS.logLevel,
            examples: ['debug'],
          }),
        },
        'The log on standard error.',
      ),
      audit: mapWith(
        {
          file: plainText('The audit file; relative to the state directory.', {
            default: CONFIG_DEFAULTS.auditFile,
            examples: ['audit.jsonl'],
          }),
          size: size('A file of this size is rotated.', CONFIG_DEFAULTS.auditSize),
          keep: count('Rotated files that are kept.', CONFIG_DEFAULTS.auditKeep, 1000),
        },
        'The record of what was decided.',
      ),
      consent: mapWith(
        {
          timeout: {
            type: 'string',
            pattern: '^[1-9][0-9]{0,4}(?:s|m|h)$',
            patternErrorMessage: 'a duration, as "60s" or "2m"',
            description: 'How long a question waits for its answer.',
            default: CONFIG_DEFAULTS.consentTimeout,
            examples: ['60s'],
          },
          channels: listOf(oneOfWords(['host', 'agent', 'desktop'], 'A way.'), 'Ways to reach a person, in order.', {
            default: CONFIG_DEFAULTS.consentChannels,
            examples: [['host', 'agent', 'desktop']],
          }),
          askpass: plainText('A program that asks, absolute; omitted: none.', { examples: ['/usr/bin/askpass'] }),
        },
        'How a person is asked.',
      ),
    },
    'Settings of the daemon.',
    { required: ['version'] },
  ),
};
