import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Peer } from '../../src/core/peer.ts';
import { getPrompt, listPrompts } from '../../src/mcp/prompts.ts';
import type { RequestRefused } from '../../src/mcp/request-refused.ts';
import { endpointSession } from '../support/endpoint-session.ts';
import { peer } from '../support/policy.ts';
import { makeTree } from '../support/tree.ts';

const TREE = [
  'file a/x.ts',
  'file a/y.js',
  'dir a/sub.ts',
  'file b/z.ts',
  'file out/z.ts',
  'link a/out.ts -> ../out/z.ts',
  'link a/in.ts -> x.ts',
];

function opened(t: TestContext, who?: Peer) {
  const base = makeTree(t, TREE);
  const session = endpointSession(
    t,
    `roots: { a: { path: ${base}/a }, b: { path: ${base}/b } }
rules: [{ id: both, allow: [a, b] }]
prompts:
  p:
    template: "{free}|{language}|{framework}|{project}|{file}|{directory}|{any}"
    arguments:
      free: {}
      language: { values: [python, { value: cobol, visible-to: { users: [bob] } }] }
      framework: { values: { python: [flask], cobol: [cics] }, depends-on: language }
      project: { roots: true }
      file: { paths: files, within: project, glob: "*.ts" }
      directory: { paths: directories }
      any: { paths: any }
  hidden: { template: x, visible-to: { users: [bob] } }
  needs: { template: "{a}", arguments: { a: { required: true }, b: {} } }
`,
    who,
  );
  /** The text, or why there is none. */
  const get = async (args: Readonly<Record<string, string>>, name = 'p'): Promise<string> => {
    try {
      const { messages } = await getPrompt(session, { name, chosen: new Map(Object.entries(args)) });
      return messages.map(({ content }) => (content.type === 'text' ? content.text : content.type)).join();
    } catch (error) {
      assert.equal((error as RequestRefused).code, -32602);
      return (error as RequestRefused).message;
    }
  };
  return { base, session, get };
}

test('getPrompt() takes what completion offers of paths, and nothing else', async (t) => {
  const { base, get, session } = opened(t);
  const at = (path: string) => join(base, path);
  const rows: [args: Readonly<Record<string, string>>, isOffered: boolean][] = [
    [{ file: at('a/x.ts') }, true],
    [{ file: at('b/z.ts') }, true],
    [{ file: at('a/in.ts') }, true],
    // Within the root that is chosen, if one is.
    [{ project: 'a', file: at('a/x.ts') }, true],
    [{ project: 'b', file: at('b/z.ts') }, true],
    [{ project: 'a', file: at('b/z.ts') }, false],
    [{ project: 'b', file: at('a/x.ts') }, false],
    [{ file: at('a/y.js') }, false],
    [{ file: at('a/sub.ts') }, false],
    [{ file: at('a') }, false],
    [{ file: at('a/nothing.ts') }, false],
    [{ file: at('a/out.ts') }, false],
    [{ file: at('out/z.ts') }, false],
    [{ file: `${base}/a/../b/z.ts` }, false],
    [{ file: 'a/x.ts' }, false],
    [{ file: '' }, false],
    [{ any: `${at('a')}/\0` }, false],
    [{ any: `${at('a')}/${'x/'.repeat(3_000)}` }, false],
    [{ directory: at('a/sub.ts') }, true],
    [{ directory: at('a/sub.ts/') }, true],
    [{ directory: at('a/x.ts') }, false],
    [{ directory: at('out') }, false],
    [{ any: at('a/sub.ts') }, true],
    [{ any: at('a/y.js') }, true],
    [{ any: at('out/z.ts') }, false],
    [{ project: 'c' }, false],
    [{ project: at('a') }, false],
  ];
  for (const [args, isOffered] of rows) {
    const text = await get(args);
    if (isOffered) assert.ok(text.split('|').includes(Object.values(args).at(-1) ?? ''), text);
    else assert.match(text, /^Invalid params: ".*" is no value of the argument "(?:file|directory|any|project)"$/);
  }
  session.fetched.length = 0;
  await get({ file: at('out/z.ts') });
  await get({ project: 'a', file: at('b/z.ts') });
  assert.deepEqual(session.fetched, [], 'what lies outside is not looked at');
});

test('getPrompt() takes values as they are offered for what is chosen, to who may see them', async (t) => {
  const bob = opened(t, peer('rootsd', { observed: { user: { uid: 1001, name: 'bob' } } }));
  const { get } = opened(t);
  assert.equal(await get({}), '||||||');
  assert.equal(
    await get({ free: 'any {text}', language: 'python', framework: 'flask' }),
    'any {text}|python|flask||||',
  );
  assert.match(await get({ language: 'cobol' }), /"cobol" is no value/);
  assert.match(await get({ language: 'python', framework: 'cics' }), /"cics" is no value/);
  assert.match(await get({}, 'needs'), /^Invalid params: prompt "needs" needs the argument "a"$/);
  assert.match(await get({ b: 'x' }, 'needs'), /needs the argument "a"/);
  assert.equal(await get({ a: '' }, 'needs'), '');
  assert.match(await get({}, 'hidden'), /no prompt "hidden"/);
  assert.match(await get({}, 'constructor'), /no prompt "constructor"/);
  assert.match(await get({ other: 'x' }), /no argument "other"/);
  assert.equal(await bob.get({ language: 'cobol', framework: 'cics' }), '|cobol|cics||||');
  assert.equal(await bob.get({}, 'hidden'), 'x');
  assert.deepEqual(
    [opened(t), bob].map(({ session }) => listPrompts(session).prompts.map(({ name }) => name)),
    [
      ['p', 'needs'],
      ['p', 'hidden', 'needs'],
    ],
  );
});
