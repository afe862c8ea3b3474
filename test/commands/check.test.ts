import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { type CheckOptions, checkCommand } from '../../src/commands/check.ts';
import type { Io } from '../../src/commands/io.ts';
import { schemaCommand } from '../../src/commands/schema.ts';
import { SYSTEM_LAYER } from '../support/serve.ts';
import { makeTree } from '../support/tree.ts';

interface Outcome {
  readonly status: number;
  readonly out: string;
}

const CONFIG = 'file rootsd.yaml version: 1\nlayers: { system: ~/p/sys, user: ~/p/user }\n';
const GOOD = 'version: 1\nroots: { a: { path: /srv/a } }\nrules: [{ id: r, allow: [a], servers: [s] }]\n';

/** A machine of its own, its home at `home`. */
function makeMachine(t: TestContext, lines: readonly string[]): string {
  return makeTree(t, ['dir home', CONFIG, ...lines]);
}

async function outcomeOf(base: string, act: (io: Io) => Promise<number>): Promise<Outcome> {
  const stdout = new PassThrough();
  const streams = { stdin: new PassThrough(), stdout, stderr: new PassThrough() };
  const env = { HOME: join(base, 'home'), XDG_RUNTIME_DIR: base };
  const out = text(stdout);
  const status = await act({ ...streams, env, argv: [], cwd: () => base });
  stdout.end();
  return { status, out: await out };
}

function check(base: string, paths: readonly string[], options: Partial<CheckOptions> = {}): Promise<Outcome> {
  const all = { format: 'human', config: join(base, 'rootsd.yaml'), ...options };
  return outcomeOf(base, (io) => checkCommand(paths, all, io));
}

test('rootsd check reads the layers of the machine and says of each file that it is good', SYSTEM_LAYER, async (t) => {
  const base = makeMachine(t, [
    `file home/p/sys/top.yaml ${GOOD}`,
    'file home/p/user/mine.yaml version: 1\nrules: [{ id: mine, deny: [a], users: [ana] }]\n',
    'file home/p/user/mine.yaml.bak x',
  ]);
  const { status, out } = await check(base, []);
  assert.deepEqual(out.trim().split('\n'), [
    `${base}/rootsd.yaml: ok`,
    `${base}/home/p/sys/top.yaml: ok`,
    `${base}/home/p/user/mine.yaml: ok`,
    `${base}/home/p/user/mine.yaml.bak: ignored`,
    '3 files, 0 errors, 0 warnings',
  ]);
  assert.equal(status, 0);
});

test('rootsd check is content with a machine that has no policies', async (t) => {
  const base = makeMachine(t, []);
  const { status, out } = await check(base, []);
  const none = `No policy files in ${base}/home/p/sys and ${base}/home/p/user`;
  assert.deepEqual([status, out.trim().split('\n').slice(-2)], [0, [none, '1 file, 0 errors, 0 warnings']]);
});

test('rootsd check prints each problem with its lines and its hint, and ends with 1', async (t) => {
  const base = makeMachine(t, ['file home/p/user/a.yaml version: 1\nrulse: []\n']);
  const { status, out } = await check(base, []);
  assert.equal(status, 1);
  assert.deepEqual(out.split('\n').slice(0, 6), [
    `${base}/home/p/user/a.yaml:2:1: error: Key "rulse" is not known [SCHEMA_UNKNOWN_KEY]`,
    '  1 | version: 1',
    '> 2 | rulse: []',
    '    | ^^^^^',
    '  3 |',
    '  hint: Did you mean "rules"?',
  ]);
});

test('rootsd check runs the tests of each layer under the layers above it', SYSTEM_LAYER, async (t) => {
  const denied = 'version: 1\ntests: [{ claims: s, root: a, expect: allow }]\n';
  const base = makeMachine(t, [
    'file home/p/sys/top.yaml version: 1\nroots: { a: { path: /srv/a } }\nrules: [{ id: no, deny: [a] }]\n',
    `file home/p/user/a.yaml ${denied}`,
  ]);
  const { status, out } = await check(base, [], { format: 'json' });
  const { ok, files, problems } = JSON.parse(out);
  assert.deepEqual([status, ok], [1, false]);
  assert.deepEqual(
    problems.map((found: { code: string; line: number }) => [found.code, found.line]),
    [['POLICY_TEST_FAILED', 2]],
  );
  assert.deepEqual(files.at(-1), { path: join(base, 'home/p/user/a.yaml'), state: 'broken' });
});

test('rootsd check calls no root of a broken upper layer unknown', SYSTEM_LAYER, async (t) => {
  const base = makeMachine(t, [
    'file home/p/sys/top.yaml version: 1\nroots: { a: { path: "/srv/a } }\n',
    'file home/p/user/a.yaml version: 1\nrules: [{ id: r, allow: [a] }]\n',
  ]);
  const { problems } = JSON.parse((await check(base, [], { format: 'json' })).out);
  assert.deepEqual(
    problems.map(({ code }: { code: string }) => code),
    ['YAML_QUOTE'],
  );
});

test('rootsd check ends with 78 where rootsd.yaml is broken, and still checks the layers it finds', async (t) => {
  const base = makeMachine(t, [
    'file broken.yaml version: 1\nlog: { level: loud }\n',
    'file home/.config/rootsd/policies.d/a.yaml version: 2\n',
  ]);
  const { status, out } = await check(base, [], { config: join(base, 'broken.yaml'), format: 'json' });
  const { problems } = JSON.parse(out);
  assert.equal(status, 78);
  assert.deepEqual(
    problems.map(({ file }: { file: string }) => file.slice(base.length)),
    ['/broken.yaml', '/home/.config/rootsd/policies.d/a.yaml'],
  );
});

test('rootsd check takes files and directories as one layer, whatever the machine has', async (t) => {
  const base = makeMachine(t, [
    'file home/p/user/bad.yaml version: 2\n',
    'file one.yaml version: 1\nrules: [{ id: r, allow: [a] }]\n',
    'file more/two.yaml version: 1\nroots: { a: { path: /srv/a } }\n',
  ]);
  const { status, out } = await check(base, ['one.yaml', 'more'], { format: 'json' });
  assert.deepEqual(JSON.parse(out), {
    ok: true,
    files: [
      { path: join(base, 'more/two.yaml'), state: 'ok' },
      { path: join(base, 'one.yaml'), state: 'ok' },
    ],
    problems: [],
  });
  assert.equal(status, 0);
});

test('rootsd check tells rootsd.yaml and project files by their names', async (t) => {
  const base = makeMachine(t, [
    'file x/rootsd.yaml version: 1\nlogs: {}\n',
    'file y/.rootsd.yaml version: 1\nallow: [x]\n',
  ]);
  const project = await check(base, ['y/.rootsd.yaml']);
  assert.equal(project.status, 1);
  assert.match(project.out, /Did you mean|One of: version, access, deny, ask/);
  const config = await check(base, ['x/rootsd.yaml']);
  assert.equal(config.status, 78);
  assert.match(config.out, /Did you mean "log"\?/);
});

test('rootsd check warns of file trust where a file is named, and refuses it in the layers', async (t) => {
  const base = makeMachine(t, [`file home/p/user/a.yaml ${GOOD}`]);
  chmodSync(join(base, 'home/p/user/a.yaml'), 0o666);
  const named = await check(base, ['home/p/user/a.yaml']);
  assert.equal(named.status, 0);
  assert.match(named.out, /a\.yaml:1:1: warning: .* can be written by everyone \[TRUST_OTHERS_WRITE\]/);
  assert.match(named.out, /hint: Run: chmod go-w /);
  const layer = await check(base, []);
  assert.equal(layer.status, 1);
  assert.match(layer.out, /error: .* can be written by everyone/);
});

test('rootsd check warns and ends with 0 where there are warnings only', async (t) => {
  const base = makeMachine(t, ['file a.yaml version: 1\nservers: { git: { socket: git } }\n']);
  const { status, out } = await check(base, ['a.yaml']);
  assert.equal(status, 0);
  assert.match(out, /1 file, 0 errors, 1 warning\n$/);
});

test('rootsd check refuses a path that is not there as wrong usage', async (t) => {
  const base = makeMachine(t, []);
  await assert.rejects(check(base, ['none.yaml']), { code: 'USAGE', message: /none\.yaml": it is not there/ });
  await assert.rejects(check(base, [], { config: join(base, 'none.yaml') }), { code: 'USAGE' });
});

test('rootsd check prints the shape of its JSON and nothing that hides', async (t) => {
  const base = makeMachine(t, ['file a.yaml version: 1\n"x\\u202e": 1\n']);
  const { out } = await check(base, ['a.yaml'], { format: 'json' });
  const { problems } = JSON.parse(out);
  assert.deepEqual(Object.keys(problems[0]), [
    'code',
    'severity',
    'file',
    'line',
    'column',
    'endLine',
    'endColumn',
    'message',
    'hint',
  ]);
  assert.match(problems[0].message, /"x\u202e"/);
  assert.doesNotMatch(out, /\u202e/);
});

test('rootsd check speaks to GitHub and in SARIF', async (t) => {
  const base = makeMachine(t, ['file a.yaml version: 2\n']);
  const github = await check(base, ['a.yaml'], { format: 'github' });
  assert.match(
    github.out,
    /^::error file=.*a\.yaml,line=1,endLine=1,col=10,endColumn=11,title=SCHEMA_VALUE::"version" is 2/,
  );
  const sarif = JSON.parse((await check(base, ['a.yaml'], { format: 'sarif' })).out);
  assert.equal(sarif.runs[0].results[0].ruleId, 'SCHEMA_VALUE');
});

test('rootsd schema prints the schema of each kind of file', async (t) => {
  const base = makeMachine(t, []);
  for (const [kind, title] of [
    ['policy', /policy/],
    ['config', /rootsd\.yaml/],
    ['project', /\.rootsd\.yaml/],
  ] as const) {
    const { status, out } = await outcomeOf(base, (io) => schemaCommand(kind, io));
    const schema = JSON.parse(out);
    assert.equal(status, 0);
    assert.equal(schema.$schema, 'http://json-schema.org/draft-07/schema#');
    assert.match(schema.title, title);
  }
  await assert.rejects(
    outcomeOf(base, (io) => schemaCommand('toString', io)),
    { code: 'USAGE' },
  );
});
