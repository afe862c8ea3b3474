// Two sessions of one real daemon that have other names, and so other roots: nothing that one is answered depends on the files of
// the other, however they ask. Another user is not served at all: test/daemon/life.test.ts.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { ERAS, type Era, type McpPeer, openMcpPeer } from '../support/mcp-peer.ts';
import { TestHome } from '../support/serve.ts';

const POLICY = `roots: { ana: { path: ~/ana, title: Of Ana }, bob: { path: ~/bob } }
rules:
  - { id: server-ana, allow: [ana], servers: [ana], access: read-write }
  - { id: server-bob, allow: [bob], servers: [bob] }
  - { id: host-ana, allow: [ana], hosts: [ana] }
  - { id: host-bob, allow: [bob], hosts: [bob], access: read-write }
prompts:
  p: { template: "{file}", arguments: { file: { paths: any }, in: { paths: files, within: project }, project: { roots: true } } }
`;

type Name = 'ana' | 'bob';

/** One question, and all that comes back: a result, or an error with its data. */
interface Question {
  readonly method: string;
  readonly params: object;
}

const TREE = [
  'file home/ana/app/a.txt mine',
  'dir home/bob/app',
  'link home/ana/over -> ../bob',
  'link home/ana/gone -> ../bob/0x',
];
/** Where a path ends that is asked for: below the home. */
const PLACES = [
  '',
  'ana/',
  'ana/app/',
  'ana/app/a',
  'ana/over/',
  'ana/over/app/',
  'ana/gone',
  'bob',
  'bob/',
  'bob/app/',
  'bob/app/0',
];

/** Every question about a path that a client can ask. */
function questionsAbout(path: string): readonly Question[] {
  const complete = (ref: object, name: string, value: string, chosen: object = {}): Question => ({
    method: 'completion/complete',
    params: { ref, argument: { name, value }, context: { arguments: chosen } },
  });
  const prompt = { type: 'ref/prompt', name: 'p' };
  return [
    complete({ type: 'ref/resource', uri: 'file:///{+path}' }, 'path', path.slice(1)),
    complete({ type: 'ref/resource', uri: 'file:///{+path}' }, 'nothing', path.slice(1)),
    complete(prompt, 'file', path),
    complete(prompt, 'project', ''),
    ...['ana', 'bob'].map((project) => complete(prompt, 'in', '', { project })),
    { method: 'resources/list', params: {} },
    { method: 'resources/read', params: { uri: `file://${path}` } },
    { method: 'prompts/get', params: { name: 'p', arguments: { file: path } } },
    { method: 'tools/call', params: { name: 'list_roots', arguments: {} } },
    { method: 'tools/call', params: { name: 'check_path', arguments: { path } } },
  ];
}

/** All answers of one session, as texts. */
async function answersOf(client: McpPeer, questions: readonly Question[]): Promise<readonly string[]> {
  const replies = await Promise.all(questions.map(({ method, params }) => client.ask(method, params)));
  return replies.map(({ result, error }) => JSON.stringify(error ?? result));
}

/** A session that was not there before: nothing is kept for it. */
async function withSession<T>(
  home: TestHome,
  who: { readonly name: Name; readonly by: 'server' | 'host'; readonly era: Era },
  act: (client: McpPeer) => Promise<T>,
): Promise<T> {
  const hooks: (() => unknown)[] = [];
  const t = { after: (hook: unknown) => void hooks.push(hook as () => unknown) } as Pick<TestContext, 'after'>;
  try {
    return await act(await openMcpPeer(t, home.socket, who.era, { [who.by]: who.name }));
  } finally {
    for (const hook of hooks) hook();
  }
}

test('nothing that a session is answered depends on the files of one with another name', async (t) => {
  const home = new TestHome(t, TREE);
  home.policy(POLICY);
  await home.serve();
  const fileName = fc.string({ unit: fc.constantFrom('a', 'x', 'é', '.', '%'), minLength: 1, maxLength: 4 });
  const run = fc.record({
    by: fc.constantFrom('server' as const, 'host' as const),
    era: fc.constantFrom(...ERAS),
    names: fc.array(fileName, { maxLength: 5 }),
    place: fc.constantFrom(...PLACES),
  });
  await fc.assert(
    fc.asyncProperty(run, async ({ by, era, names, place }) => {
      const questions = questionsAbout(join(home.home, place));
      const as = (name: Name) => ({ name, by, era });
      await withSession(home, as('ana'), async (before) => {
        const alone = await answersOf(before, questions);
        for (const [i, name] of names.entries()) writeFileSync(join(home.home, 'bob/app', `${i}${name}`), `${names}`);
        await withSession(home, as('bob'), async (bob) => {
          const his = await answersOf(bob, questions);
          for (const answer of his) assert.ok(!answer.includes('a.txt') && !answer.includes('Of Ana'), answer);
          // Asked after him by one who knows nothing yet, and by one for whom answers are kept; then all of them at once.
          assert.deepEqual(await withSession(home, as('ana'), (fresh) => answersOf(fresh, questions)), alone);
          assert.deepEqual(await answersOf(before, questions), alone);
          await withSession(home, as('ana'), async (fresh) => {
            const [again, together] = await Promise.all([answersOf(bob, questions), answersOf(fresh, questions)]);
            assert.deepEqual([together, again], [alone, his]);
          });
        });
      });
    }),
    { numRuns: 25 },
  );
});
