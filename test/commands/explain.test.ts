import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { ExplainedDecision, ExplainedRoots, ExplainedServer } from '../../src/daemon/explain.ts';
import { TestHome } from '../support/serve.ts';

const POLICY = `roots:
  web: { path: ~/web, title: Web Site }
  docs: { path: ~/docs, access: read-only }
  gone: { path: ~/gone }
  projects: { path: ~/src/*, having: [.git] }
servers:
  fs: { command: [npx, fs] }
hosts:
  editor: { command: editor }
rules:
  - { id: web-work, allow: [web, docs, gone], servers: [fs], access: read-write }
  - { id: more-projects, ask: [projects], servers: [fs], access: read-write }
  - { id: by-host, allow: [projects/one], servers: [fs], hosts: [editor] }
  - { id: for-ana, allow: [web], servers: [other], users: [ana] }
  - { id: for-seven, allow: [docs], servers: [seven], users: ["uid:7", "%staff"] }
  - { id: no-keys, deny: [~/web/keys], reason: Keys are not for servers, servers: [other] }
`;
const TREE = ['dir home/web/a', 'dir home/docs', 'dir home/src/one/.git', 'dir home/src/two/.git', 'dir home/src/x'];

function openHome(t: TestContext): TestHome {
  const home = new TestHome(t, TREE);
  home.policy(POLICY);
  return home;
}

/** Every question of this file, and how it is answered. */
const ANSWERS: readonly (readonly [args: string, effect: string, kind: string, access: string | null])[] = [
  // Roots by name
  ['web --server fs', 'allow', 'rule', 'read-write'],
  ['docs --server fs', 'allow', 'rule', 'read-only'],
  ['gone --server fs', 'allow', 'rule', 'read-write'],
  ['web --server nobody', 'deny', 'implicit', null],
  // Who only claims a name does not fulfil what its entry wants
  ['web --claims fs', 'deny', 'implicit', null],
  // Members of a pattern root; the host is a fact that may be missing
  ['projects/two --server fs', 'ask', 'pending', null],
  ['projects/one --server fs', 'ask', 'pending', null],
  ['projects/one --server fs --host editor', 'allow', 'rule', 'read-only'],
  ['projects/none --server fs', 'ask', 'pending', null],
  // Users
  ['web --server other --user ana', 'deny', 'nested', null],
  ['docs --server other --user ana', 'deny', 'implicit', null],
  ['docs --server seven --user uid:7', 'allow', 'rule', 'read-only'],
  ['docs --server seven --user %staff', 'allow', 'rule', 'read-only'],
  ['docs --server seven --user uid:8', 'deny', 'implicit', null],
  // Paths
  ['~/web --server fs', 'allow', 'rule', 'read-write'],
  ['~/web/a/deep/new --server fs', 'allow', 'rule', 'read-write'],
  ['./home/docs --server fs', 'allow', 'rule', 'read-only'],
  ['../etc --server fs', 'deny', 'implicit', null],
  ['~ --server fs', 'deny', 'implicit', null],
  ['/etc/passwd --server fs', 'deny', 'implicit', null],
  ['~/web/keys/id --server other', 'deny', 'explicit', null],
];
const STATUS: Readonly<Record<string, number>> = { allow: 0, deny: 1, ask: 2 };

describe('rootsd explain', () => {
  it('answers by the files and by the daemon alike, its status says the effect', async (t) => {
    const home = openHome(t);
    const ask = async (): Promise<readonly (ExplainedDecision & { status: number | null })[]> => {
      const answers = [];
      for (const [args] of ANSWERS) answers.push(await home.json<ExplainedDecision>('explain', ...args.split(' ')));
      return answers;
    };
    const byFiles = await ask();
    for (const [i, [args, effect, kind, access]] of ANSWERS.entries()) {
      const answer = byFiles[i];
      const found = [answer?.source, answer?.effect, answer?.kind, answer?.access, answer?.status];
      assert.deepEqual(found, ['files', effect, kind, access, STATUS[effect]], args);
    }
    await home.serve();
    const byDaemon = await ask();
    assert.deepEqual(
      byDaemon,
      byFiles.map((answer) => {
        const more = answer.kind === 'pending' ? '; what running servers were given: rootsd consent list' : '';
        return { ...answer, source: 'daemon', why: `${answer.why}${more}` };
      }),
    );
  });

  it('prints the whole decision as JSON', async (t) => {
    const home = openHome(t);
    const file = join(home.directory('user'), 'test.yaml');
    const { status, ...answer } = await home.json<ExplainedDecision>('explain', 'docs', '--server', 'fs');
    assert.equal(status, 0);
    assert.deepEqual(Object.keys(answer), [
      'source',
      'effect',
      'kind',
      'access',
      'askable',
      'root',
      'rule',
      'why',
      'facts',
      'missing',
    ]);
    const path = join(home.home, 'docs');
    assert.deepEqual(answer.root, { name: 'docs', path, uri: `file://${path}`, available: true });
    assert.deepEqual(answer.rule, { id: 'web-work', file, line: 12, layer: 'user' });
    assert.match(answer.why, /rule "web-work" allows it, capped at read-only/);
  });

  it('names what is not there, and the facts that are missing', async (t) => {
    const home = openHome(t);
    const gone = await home.json<ExplainedDecision>('explain', 'gone', '--server', 'fs');
    assert.deepEqual(gone.root, { name: 'gone', path: join(home.home, 'gone'), uri: null, available: false });
    assert.match(gone.why, /not told now: /);
    const claimed = await home.json<ExplainedDecision>('explain', 'web', '--claims', 'fs');
    assert.deepEqual(claimed.missing, ['server "fs": command']);
    assert.equal(claimed.facts[0], 'server=fs (claimed)');
  });

  it('offers what a person could still grant', async (t) => {
    const home = openHome(t);
    const { askable, access } = await home.json<ExplainedDecision>(
      'explain',
      'projects/one',
      '--server',
      'fs',
      '--host',
      'editor',
    );
    assert.deepEqual([access, askable], ['read-only', 'read-write']);
  });

  it('prints a decision for people', async (t) => {
    const home = openHome(t);
    const file = join(home.directory('user'), 'test.yaml');
    const { status, out, err } = await home.command('explain', '--server', 'other', '~/web/keys');
    assert.deepEqual([status, err], [1, '']);
    const rows = new Map(out.split('\n').map((line) => [line.slice(0, 8).trim(), line.slice(10)]));
    assert.equal(rows.get('decision'), 'deny (explicit)');
    assert.equal(rows.get('rule'), `no-keys (user layer, ${file}:17)`);
    assert.equal(rows.get('why'), 'rule "no-keys" denies it: Keys are not for servers');
    assert.equal(rows.get('source'), 'the files: no daemon answers');
  });

  it('explains every root where no target is given, and what nothing enforces; exit 0', async (t) => {
    const home = openHome(t);
    const { status, ...answer } = await home.json<ExplainedServer>('explain', '--server', 'fs');
    assert.equal(status, 0);
    assert.deepEqual(Object.keys(answer), ['source', 'server', 'channel', 'warnings', 'unenforced', 'decisions']);
    assert.deepEqual(
      answer.decisions.map(({ root, effect }) => [root?.name, effect]),
      [
        ['web', 'allow'],
        ['docs', 'allow'],
        ['gone', 'allow'],
        ['projects/one', 'ask'],
        ['projects/two', 'ask'],
      ],
    );
    assert.equal(answer.unenforced.length > 0, true);
    const { out, status: forPeople } = await home.command('explain', '--server', 'fs');
    assert.equal(forPeople, 0);
    assert.match(out, /^server {3}fs$/m);
    assert.match(out, /^allow +read-write +web +\/.*web-work/m);
    assert.match(out, /^not enforced: /m);
  });

  it('knows rootsd itself, as which MCP clients come that say no other name', async (t) => {
    const home = openHome(t);
    const { channel, warnings, unenforced } = await home.json<ExplainedServer>('explain', '--server', 'rootsd');
    assert.equal(channel, 'rootsd itself, as an MCP server ("rootsd mcp")');
    assert.deepEqual(warnings, [
      'This is who an MCP client of rootsd is that says no other name ("rootsd mcp --server NAME")',
    ]);
    assert.deepEqual(unenforced, ['What the client reads by other means than through rootsd is its own affair']);
    home.policy('servers: { rootsd: { command: [npx, x] } }', 'user', 'own.yaml');
    const own = await home.json<ExplainedServer>('explain', '--server', 'rootsd');
    assert.match(own.unenforced.join(), /It can open any file/);
  });

  it('says of broken files what is wrong on standard error, and allows nothing', async (t) => {
    const home = openHome(t);
    const path = home.policy('rules: [', 'user', 'broken.yaml');
    const { status, out, err } = await home.command('explain', '--server', 'fs', '~/web', '--json');
    assert.equal(status, 1);
    assert.ok(err.startsWith(`${path}:2:`), err);
    assert.equal(JSON.parse(out).effect, 'deny');
  });

  it('says which root or server was probably meant, whoever answers', async (t) => {
    const home = openHome(t);
    const asked = async () => {
      const { err } = await home.command('explain', '--server', 'fs', 'wab');
      const { warnings } = await home.json<ExplainedServer>('explain', '--server', 'fss');
      const { warnings: ofRoots } = await home.json<ExplainedRoots>('roots', '--server', 'fss');
      assert.match(warnings[1] ?? '', /the policy names no command for it/);
      return [err.includes('Did you mean "web"?'), warnings[0], ofRoots];
    };
    const said = 'No policy names a server "fss": did you mean "fs"?';
    assert.deepEqual(await asked(), [true, said, [said]]);
    await home.serve();
    assert.deepEqual(await asked(), [true, said, [said]]);
    const { err } = await home.command('allow', '~/web', '--server', 'fss');
    assert.match(err, /no policy names a server "fss": did you mean "fs"\?/);
  });

  for (const [args, message] of [
    ['web', '--server NAME or --claims NAME'],
    ['web --server fs --claims fs', '--server NAME or --claims NAME'],
    ['nowhere --server fs', 'no policy declares a root of this name'],
    ['nowhere/x --server fs', 'no policy declares a root of this name'],
    ['web/x --server fs', 'root "web" has no member of this name'],
    ['projects/../x --server fs', 'root "projects" has no member of this name'],
    ['~ana/x --server fs', 'only "~" and "~/"'],
    ['web --server fs --user uid:ana', 'it must be a login name, "uid:N" or "%group"'],
    ['web --server fs --format yaml', 'Allowed choices are human, json'],
    ['web docs --server fs', 'too many arguments'],
  ] as const) {
    it(`refuses "${args}" as wrong usage: 64`, async (t) => {
      const { status, out, err } = await openHome(t).command('explain', ...args.split(' '));
      assert.deepEqual([status, out], [64, '']);
      assert.ok(err.includes(message), err);
    });
  }
});
