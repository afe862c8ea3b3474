import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { EndpointSession } from '../../src/mcp/endpoint-session.ts';
import type { RequestRefused } from '../../src/mcp/request-refused.ts';
import { TOOLS } from '../../src/mcp/tool-descriptions.ts';
import { callTool } from '../../src/mcp/tools.ts';
import { endpointSession } from '../support/endpoint-session.ts';
import { makeTree } from '../support/tree.ts';

const TREE = [
  'file app/a text',
  'dir app/sub',
  'link app/in -> sub',
  'link app/leak -> ../other/x',
  'file other/x',
  'dir more',
  'dir gone',
];
const ajv = new Ajv2020({ strict: false });
const NEVER = new AbortController().signal;

/** The schema, but nothing else than it names. */
function exactly(schema: unknown): object {
  const text = JSON.stringify(schema, (_key, value) =>
    value?.properties === undefined ? value : { ...value, additionalProperties: false },
  );
  return JSON.parse(text);
}

const OUTPUTS = new Map(TOOLS.map(({ name, outputSchema }) => [name, ajv.compile(exactly(outputSchema))]));

function opened(t: TestContext) {
  const base = makeTree(t, TREE);
  const policy = (rules: string) => `roots:
  app: { path: ${base}/app, title: The App }
  other: { path: ${base}/other }
  more: { path: ${base}/more }
  lost: { path: ${base}/lost }
rules:
${rules}`;
  const rules = `  - { id: app, allow: [app, lost], access: read-write }
  - { id: more, allow: [more] }
  - { id: other, ask: [other] }
  - { id: closed, deny: ["${base}/closed"], reason: Closed for ever }
`;
  const session = endpointSession(t, policy(rules));
  const requests: (readonly [root: string, signal: AbortSignal])[] = [];
  const held: { onRequest: () => void } = { onRequest: () => {} };
  const asking: EndpointSession = {
    ...session,
    request: async (root, signal) => {
      requests.push([root, signal]);
      held.onRequest();
    },
  };
  /** What a tool answers: the same in structure and as text, and as its schema says. */
  const call = async (name: string, given: Readonly<Record<string, unknown>> = {}, cancelled = NEVER) => {
    const { content, structuredContent, isError } = await callTool(asking, { name, given }, cancelled);
    const [first] = content;
    const text = first?.type === 'text' ? first.text : '';
    if (isError === true) return { error: text };
    assert.deepEqual(JSON.parse(text), structuredContent);
    const isValid = OUTPUTS.get(name);
    assert.equal(isValid?.(structuredContent), true, JSON.stringify([structuredContent, isValid?.errors]));
    return structuredContent as Readonly<Record<string, unknown>>;
  };
  return {
    base,
    at: (path: string) => join(base, path),
    call,
    requests,
    held,
    allow: (more: string) => session.policy(policy(rules + more)),
  };
}

test('each tool says what it takes and whether it changes anything', () => {
  const rest = { destructiveHint: false, idempotentHint: true, openWorldHint: false };
  assert.deepEqual(
    TOOLS.map(({ name, annotations }) => [name, annotations]),
    [
      ['list_roots', { readOnlyHint: true, ...rest }],
      ['check_path', { readOnlyHint: true, ...rest }],
      ['request_access', { readOnlyHint: false, ...rest }],
    ],
  );
  const rows: [name: string, given: object, takes: boolean][] = [
    ['list_roots', {}, true],
    ['list_roots', { path: '/' }, false],
    ['check_path', { path: '/x' }, true],
    ['check_path', {}, false],
    ['check_path', { path: 5 }, false],
    ['check_path', { path: '/x', access: 'read-only' }, false],
    ['request_access', { path: '/x' }, true],
    ['request_access', { path: '/x', access: 'read-write' }, true],
    ['request_access', { path: '/x', access: 'all' }, false],
    ['request_access', { access: 'read-only' }, false],
  ];
  for (const [name, given, takes] of rows) {
    const tool = TOOLS.find((one) => one.name === name);
    assert.ok(tool?.title && tool.description);
    assert.equal(ajv.validate(tool.inputSchema, given), takes, `${name} ${JSON.stringify(given)}`);
  }
});

test('callTool() tells a model what is wrong with its arguments, and refuses tools that are none', async (t) => {
  const { call, requests } = opened(t);
  const rows: [name: string, given: Readonly<Record<string, unknown>>, what: RegExp][] = [
    ['check_path', {}, /^"path" must be an absolute path or a file: URI$/],
    ['check_path', { path: ['/x'] }, /^"path" must be/],
    ['check_path', { path: '/x', access: 'read-only' }, /^There is no argument "access"$/],
    ['request_access', { path: '/x', access: 'all' }, /^"access" must be "read-only" or "read-write"$/],
    ['request_access', { path: '/x', access: null }, /^"access" must be/],
    ['request_access', { path: '/x', more: 1 }, /^There is no argument "more"$/],
  ];
  for (const [name, given, what] of rows) {
    const answer = await call(name, given);
    assert.match(String(answer.error), what, name);
  }
  for (const name of ['nothing', 'constructor', '']) {
    await assert.rejects(call(name), ({ code, message }: RequestRefused) => {
      assert.deepEqual([code, message], [-32602, `Invalid params: there is no tool "${name}"`]);
      return true;
    });
  }
  assert.deepEqual(requests, []);
});

test('list_roots lists what the session is told', async (t) => {
  const { at, call } = opened(t);
  const root = (name: string, title: string, access: string) => ({
    name,
    title,
    uri: `file://${at(name)}`,
    path: at(name),
    access,
  });
  assert.deepEqual(await call('list_roots'), {
    roots: [root('app', 'The App', 'read-write'), root('more', 'more', 'read-only')],
  });
});

test('check_path says of a path what the policy does, and of the disk nothing outside', async (t) => {
  const { base, at, call } = opened(t);
  const inside = { verdict: 'inside', effect: 'allow', access: 'read-write', root: 'app' };
  const denied = { verdict: 'outside', effect: 'deny', access: null, root: null };
  const invalid = { ...denied, verdict: 'invalid' };
  const leads = /^it leads out of the roots of this session, or cannot be followed$/;
  const rows: [path: string, expected: object, why: RegExp][] = [
    [at('app'), inside, /rule "app" allows it/],
    [at('app/a'), inside, /rule "app"/],
    [at('app/new/file'), inside, /rule "app"/],
    [`file://${at('app/in')}`, inside, /rule "app"/],
    [at('more'), { ...inside, access: 'read-only', root: 'more' }, /rule "more"/],
    [at('app/leak'), denied, leads],
    [at('app/a/b'), denied, leads],
    [at('other'), { ...denied, effect: 'ask', root: 'other' }, /rule "other" wants a person's consent/],
    [
      at('lost/x'),
      { verdict: 'outside', effect: 'allow', access: 'read-write', root: 'lost' },
      /, but the root is not available now$/,
    ],
    [at('nothing'), denied, /no declared root contains it/],
    [at('closed/x'), denied, /Closed for ever/],
    [`${base}/app/../other`, invalid, /has a "\.\."/],
    ['app', invalid, /^the path is relative/],
    ['', invalid, /^the path is empty/],
    ['/a\0', invalid, /^the path /],
    ['file://host/app', invalid, /names another host/],
  ];
  for (const [path, expected, why] of rows) {
    const { why: said, ...rest } = await call('check_path', { path });
    assert.deepEqual(rest, expected, path);
    assert.match(String(said), why, path);
  }
});

test('request_access asks for the root of a path where a person could give it, and says what came of it', async (t) => {
  const { at, call, requests, held, allow } = opened(t);
  const cancelled = new AbortController().signal;
  const state = async (path: string, access?: string) => {
    requests.length = 0;
    const answer = await call('request_access', access === undefined ? { path } : { path, access }, cancelled);
    return [answer.state, answer.access, requests.map(([root]) => root).join()];
  };
  // Held already, or not to be had: nobody is asked.
  assert.deepEqual(await state(at('app')), ['granted', 'read-write', '']);
  assert.deepEqual(await state(at('app'), 'read-write'), ['granted', 'read-write', '']);
  assert.deepEqual(await state(at('more'), 'read-only'), ['granted', 'read-only', '']);
  assert.deepEqual(await state(at('more'), 'read-write'), ['denied', 'read-only', '']);
  assert.deepEqual(await state(at('closed')), ['denied', null, '']);
  assert.deepEqual(await state(at('nothing')), ['denied', null, '']);
  assert.deepEqual(await state('relative'), ['denied', null, '']);
  assert.deepEqual(await state(at('other/x'), 'read-write'), ['denied', null, '']);
  // Nobody has answered.
  assert.deepEqual(await state(at('other/x')), ['undecided', null, 'other']);
  assert.deepEqual(
    requests.map(([, signal]) => signal),
    [cancelled],
  );
  // Somebody has said yes, or no.
  held.onRequest = () => allow('  - { id: given, allow: [other] }\n');
  assert.deepEqual(await state(at('other/x')), ['granted', 'read-only', 'other']);
  allow('');
  held.onRequest = () => allow(`  - { id: refused, deny: [other] }\n`);
  assert.deepEqual(await state(at('other')), ['denied', null, 'other']);
});
