import { DEFAULT_SCOPES } from '../core/consent.ts';
import { KINDS } from '../core/decision.ts';
import { MOMENT_PATTERN } from '../core/ending.ts';
import { HOSTS, offByDefault, SERVERS, USER, USERS } from './schema-peers.ts';
import {
  accessOf,
  exactlyOne,
  type JsonSchema,
  listOf,
  mapWith,
  misplaced,
  nameOf,
  oneOfWords,
  plainText,
  textOf,
} from './schema-terms.ts';

const MEMBER = plainText('A root: `name`, `name/*` for all members of a pattern root, `name/member` for one.');
const TARGET = plainText(
  'A root, or a path (it begins with "/", "~" or "${"); "*" is one component, "/**" is all below.',
);

/** `<n>m` up to 1440, `<n>h` up to 24. */
const SCOPE: JsonSchema = {
  type: 'string',
  pattern: '^(?:once|session|always|(?:[1-9]\\d{0,2}|1[0-3]\\d\\d|14[0-3]\\d|1440)m|(?:[1-9]|1\\d|2[0-4])h)$',
  patternErrorMessage: 'once, session, always, or minutes or hours up to a day, as "30m" or "8h"',
  description: 'How long a consent may hold.',
};

/** An entry of `rules`. */
export const RULE: JsonSchema = mapWith(
  {
    id: nameOf('What decisions and messages call this rule.', { examples: ['web-work'] }),
    allow: listOf(MEMBER, 'Roots that may be used.', { examples: [['frontend', 'backend']] }),
    ask: listOf(MEMBER, 'Roots that may be used once a person has agreed.', { examples: [['projects']] }),
    deny: listOf(TARGET, 'Roots and paths that must not be used, whatever any other rule says.', {
      examples: [['~/.ssh', '~/.aws']],
    }),
    except: listOf(TARGET, 'Roots and paths this rule is not about.', { examples: [['projects/secret']] }),
    servers: SERVERS,
    hosts: HOSTS,
    users: USERS,
    access: accessOf('What is granted; not on `deny`.', { default: 'read-only', examples: ['read-write'] }),
    until: {
      type: 'string',
      pattern: MOMENT_PATTERN,
      patternErrorMessage: 'a moment in UTC, as 2026-12-31T18:00:00Z',
      description: 'When it ends, of itself; only on `allow`. Omitted: never.',
      examples: ['2026-12-31T18:00:00Z'],
    },
    reason: textOf('Why, for the person who is refused or asked.', {
      examples: ['Credential stores are never exposed'],
    }),
    scopes: listOf(SCOPE, 'How long a consent may hold; only on `ask`.', {
      default: DEFAULT_SCOPES,
      examples: [['session', '8h', 'always']],
    }),
    mandatory: offByDefault('Ask even where another rule allows; only on `ask`.'),
    approver: oneOfWords(['user', 'admin'], 'Who may agree; only on `ask`.', { default: 'user', examples: ['admin'] }),
  },
  'Allows, asks for or denies. The order of rules has no meaning: a deny always wins.',
  {
    required: ['id'],
    allOf: [
      exactlyOne(['allow', 'ask', 'deny']),
      { if: { not: { required: ['deny'] } }, else: { properties: { access: misplaced('a deny has no access') } } },
      { if: { required: ['allow'] }, else: { properties: { until: misplaced('only "allow" can end of itself') } } },
      {
        if: { required: ['ask'] },
        else: {
          properties: {
            scopes: misplaced('only "ask" has scopes'),
            mandatory: misplaced('only "ask" can be mandatory'),
            approver: misplaced('only "ask" has an approver'),
          },
        },
      },
    ],
    examples: [{ id: 'web-work', allow: ['frontend'], servers: ['filesystem'], access: 'read-write' }],
  },
);

/** An item of `ceiling`. */
export const CEILING_ITEM: JsonSchema = {
  ...mapWith(
    {
      path: plainText('A path; "*" is one component, "/**" is all below.', { examples: ['/srv/data/**'] }),
      access: accessOf('At most this; omitted: no cap.', { examples: ['read-only'] }),
    },
    'A path, or a path with a cap.',
    { required: ['path'], minLength: 1, format: 'plain-text', examples: ['~/**'] },
  ),
  type: ['string', 'object'],
};

/** An entry of `tests`. */
export const TEST: JsonSchema = mapWith(
  {
    server: nameOf('A peer that fulfils the selectors of this server.', { examples: ['filesystem'] }),
    claims: nameOf('A peer that only says it is this server.', { examples: ['filesystem'] }),
    host: nameOf('The host it runs in.', { examples: ['vscode'] }),
    user: { ...USER, description: 'The user it runs as.' },
    root: { ...MEMBER, description: 'The root it wants.', examples: ['frontend', 'projects/x'] },
    path: plainText('The path it wants.', { examples: ['~/.ssh'] }),
    expect: oneOfWords(['allow', 'ask', 'deny'], 'What must be decided.', { examples: ['allow'] }),
    access: accessOf('The access that must result.', { examples: ['read-write'] }),
    rule: plainText('The id of the rule that must decide.', { examples: ['no-credentials'] }),
    kind: oneOfWords(KINDS, 'The kind of decision that must result.', { examples: ['explicit'] }),
  },
  'What the policy must decide. Checked before every activation; the disk is not looked at.',
  {
    required: ['expect'],
    allOf: [exactlyOne(['server', 'claims']), exactlyOne(['root', 'path'])],
    examples: [{ server: 'git', path: '~/.ssh', expect: 'deny', rule: 'no-credentials' }],
  },
);
