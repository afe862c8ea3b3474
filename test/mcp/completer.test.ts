import assert from 'node:assert/strict';
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { RealPath } from '../../src/core/path.ts';
import { toPathValue } from '../../src/core/path-value.ts';
import type { Peer } from '../../src/core/peer.ts';
import { SYSTEM_CLOCK } from '../../src/disk/clock.ts';
import { failure } from '../../src/disk/failure.ts';
import { Completer } from '../../src/mcp/completer.ts';
import type { RequestRefused } from '../../src/mcp/request-refused.ts';
import { FakeClock } from '../support/clock.ts';
import { endpointSession, type TestSession } from '../support/endpoint-session.ts';
import { peer } from '../support/policy.ts';
import { makeTree, temporaryDirectory } from '../support/tree.ts';

interface Asked {
  readonly session: TestSession;
  readonly completer: Completer;
  /** Completes a path of the template. */
  path(value: string, uri?: string): Promise<readonly string[]>;
  /** Completes an argument of prompt `p`. */
  prompt(name: string, value: string, chosen?: Readonly<Record<string, string>>): Promise<readonly string[]>;
}

function asked(t: TestContext, policy: string, { who, clock }: { who?: Peer; clock?: FakeClock } = {}): Asked {
  const session = endpointSession(t, policy, who);
  const completer = new Completer({ session, clock: clock ?? SYSTEM_CLOCK });
  t.after(() => completer.close());
  return {
    session,
    completer,
    async path(value, uri = 'file:///{+path}') {
      const { completion } = await completer.complete({
        ref: { type: 'ref/resource', uri },
        argument: { name: 'path', value },
      });
      assert.equal(completion.hasMore, (completion.total ?? 0) > completion.values.length);
      return completion.values;
    },
    async prompt(name, value, chosen = {}) {
      const { completion } = await completer.complete({
        ref: { type: 'ref/prompt', name: 'p' },
        argument: { name, value },
        context: { arguments: chosen },
      });
      return completion.values;
    },
  };
}

function allowing(...paths: readonly string[]): string {
  const roots = paths.map((path, i) => `  r${i}: { path: ${JSON.stringify(path)} }\n`).join('');
  return `roots:\n${roots}rules: [{ id: a, allow: [${paths.map((_, i) => `r${i}`)}] }]\n`;
}

test('Completer offers the roots, then what lies in them, as whole values', async (t) => {
  const base = makeTree(t, ['file app/src/a.ts', 'file app/src/b.ts', 'dir app/sub', 'file app/alone', 'dir other']);
  const { path } = asked(t, allowing(join(base, 'app')));
  const app = toPathValue(join(base, 'app'), 'directory');
  assert.deepEqual(await path(''), [app]);
  assert.deepEqual(await path('/'), [app]);
  assert.deepEqual(await path('ap'), [app]);
  assert.deepEqual(await path(app.slice(0, -1)), [app]);
  assert.deepEqual(await path(app), [`${app}src/`, `${app}sub/`, `${app}alone`]);
  assert.deepEqual(await path(`${app}a`), [`${app}alone`]);
  assert.deepEqual(await path(`${app}src/`, 'file:///{path}'), [`${app}src/a.ts`, `${app}src/b.ts`]);
  assert.deepEqual(await path(`${app}src/bt`), [`${app}src/b.ts`]);
  assert.deepEqual(await path(`${app}nothing/`), []);
  assert.deepEqual(await path(`${app}alone/`), []);
});

test('Completer neither offers nor touches what lies outside, wherever links lead', async (t) => {
  const base = makeTree(t, [
    'dir app/in',
    'file app/in/mine',
    'file other/secret',
    'link app/out -> ../other',
    'link app/leak -> ../other/secret',
    'link app/again -> in',
    'link app/dangling -> ../other/new',
  ]);
  const { path, session } = asked(t, allowing(join(base, 'app')));
  const at = (name: string) => toPathValue(join(base, name), 'directory');
  assert.deepEqual(await path(at('app')), [`${at('app')}in/`, `${at('app')}again/`]);
  assert.deepEqual(await path(`${at('app')}again/`), [`${at('app')}again/mine`]);
  assert.deepEqual(await path(`${at('app')}out/`), []);
  session.fetched.length = 0;
  for (const value of [at('other'), `${at('app')}../other/`, '../', at('nothing'), 'proc/self/', '%2e%2e/other/']) {
    assert.deepEqual(await path(value), [], value);
  }
  assert.deepEqual(session.fetched, []);
});

test('Completer offers no directory that is denied, and nothing of a root that is gone or asked for', async (t) => {
  const base = makeTree(t, ['file a/x/y', 'file b/x', 'file c/x']);
  const policy = (rules: string) =>
    `roots: { a: { path: ${base}/a }, b: { path: ${base}/b }, c: { path: ${base}/c } }\nrules:\n${rules}`;
  const all = '  - { id: a, allow: [a, b] }\n  - { id: c, ask: [c] }\n';
  const { path, session, completer } = asked(t, policy(all));
  assert.deepEqual(await path(''), [toPathValue(`${base}/a`, 'directory'), toPathValue(`${base}/b`, 'directory')]);
  assert.equal((await path(toPathValue(`${base}/a`, 'directory'))).length, 1);
  session.policy(policy(`${all}  - { id: d, deny: ["${base}/a/x"] }\n`));
  completer.forget();
  assert.deepEqual(await path(''), [toPathValue(`${base}/b`, 'directory')]);
  assert.deepEqual(await path(toPathValue(`${base}/a`, 'directory')), []);
  assert.deepEqual(await path(toPathValue(`${base}/c`, 'directory')), []);
});

test('Completer shows hidden names where a dot is typed', async (t) => {
  const base = makeTree(t, ['file .git', 'file a', 'file .env']);
  const { path } = asked(t, allowing(base));
  const root = toPathValue(base, 'directory');
  assert.deepEqual(await path(root), [`${root}a`]);
  assert.deepEqual(await path(`${root}.`), [`${root}.env`, `${root}.git`]);
});

test('Completer tells a hundred values of many, and says how many there are', async (t) => {
  const base = temporaryDirectory(t);
  for (let i = 0; i < 5_000; i++) writeFileSync(join(base, `entry-${i}`), '');
  const { path, completer } = asked(t, allowing(base));
  const root = toPathValue(base, 'directory');
  const params = { ref: { type: 'ref/resource', uri: 'file:///{+path}' }, argument: { name: 'path', value: root } };
  const { completion } = await completer.complete(params);
  assert.deepEqual([completion.values.length, completion.total, completion.hasMore], [100, 5_000, true]);
  assert.deepEqual(completion.values.slice(0, 2), [`${root}entry-0`, `${root}entry-1`]);
  for (const i of [0, 57, 4_321, 4_999]) {
    assert.equal((await path(`${root}entry-${i}`))[0], `${root}entry-${i}`);
  }
});

/** Completes in a directory of so many entries, which costs nothing to list. */
function inHuge(t: TestContext, count: number) {
  const base = temporaryDirectory(t);
  const entries = Array.from({ length: count }, (_, i) => ({ name: `entry-${i}`, kind: 'file' as const }));
  const real = endpointSession(t, allowing(base));
  const place = { ok: true, path: base as RealPath, kind: 'directory', size: 0, signature: '', base64: null } as const;
  const session = { ...real, fetch: async () => ({ ...place, entries, total: entries.length }) };
  return { base, entries, completer: new Completer({ session, clock: SYSTEM_CLOCK }) };
}

test('Completer ends its work when its session ends', async (t) => {
  const { base, completer } = inHuge(t, 200_000);
  const ref = { type: 'ref/resource', uri: 'file:///{+path}' };
  const answer = completer.complete({ ref, argument: { name: 'path', value: toPathValue(base, 'directory') } });
  completer.close();
  assert.deepEqual((await answer).completion, { values: [], total: 0, hasMore: false });
});

test('Completer lets others have their turn while it ranks a huge directory', async (t) => {
  const { base, entries, completer } = inHuge(t, 200_000);
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const ref = { type: 'ref/resource', uri: 'file:///{+path}' };
  const argument = { name: 'path', value: `${toPathValue(base, 'directory')}ent9` };
  const { completion } = await completer.complete({ ref, argument });
  isDone = true;
  assert.deepEqual(
    [completion.total, completion.hasMore],
    [entries.filter(({ name }) => name.includes('9')).length, true],
  );
  assert.ok(turns > 3, `${turns} turns`);
});

test('Completer offers every name a file can have, so that it reads back', async (t) => {
  const base = temporaryDirectory(t);
  const names = ['a b', 'a\nb', 'ä', 'a\u0308', '%41', '#?', '\'"\\', '\u{1f600}', '\x01\x7f', '+', '~'];
  for (const name of names) mkdirSync(join(base, name));
  const { path } = asked(t, allowing(base));
  const root = toPathValue(base, 'directory');
  const values = await path(root);
  assert.deepEqual(
    values.map((value) => decodeURIComponent(value).slice(base.length, -1)).toSorted(),
    names.toSorted(),
  );
  for (const value of values) {
    assert.match(value, /^[A-Za-z0-9._~/%-]*$/);
    assert.ok((await path(value.slice(0, -1))).includes(value));
  }
});

test('Completer says of a directory that has become a link to the outside what it says of one that is gone', async (t) => {
  const base = makeTree(t, ['dir a/b', 'file a/b/x', 'file outside/x']);
  const { path } = asked(t, allowing(join(base, 'a')));
  const at = toPathValue(join(base, 'a/b'), 'directory');
  assert.deepEqual(await path(`${at}`), [`${at}x`]);
  renameSync(join(base, 'a/b'), join(base, 'a/was'));
  symlinkSync('../outside', join(base, 'a/b'));
  assert.deepEqual(await path(`${at}x`), await path(toPathValue(join(base, 'a/gone'), 'directory')));
});

const PROMPT = `prompts:
  p:
    template: Review {language}
    arguments:
      free: {}
      language:
        required: true
        values: [python, perl, { value: cobol, visible-to: { users: [bob] } }]
      framework:
        values: { python: [flask, django], perl: [dancer], cobol: [cics] }
        depends-on: language
      project: { roots: true }
      file: { paths: files, within: project, glob: "*.ts" }
      directory: { paths: directories }
`;

test('Completer offers the values of a prompt that the context leaves, to who may see them', async (t) => {
  const base = makeTree(t, ['file a/x.ts', 'file a/y.js', 'dir a/sub', 'file b/z.ts']);
  const policy = `${allowing(join(base, 'a'), join(base, 'b'))}${PROMPT}`;
  const { prompt } = asked(t, policy);
  assert.deepEqual(await prompt('free', 'x'), []);
  assert.deepEqual(await prompt('language', 'p'), ['perl', 'python']);
  assert.deepEqual(await prompt('language', ''), ['perl', 'python']);
  assert.deepEqual(await prompt('framework', '', { language: 'python' }), ['flask', 'django']);
  assert.deepEqual(await prompt('framework', 'fla', { language: 'python' }), ['flask']);
  assert.deepEqual(await prompt('framework', 'fla', { language: 'perl' }), []);
  assert.deepEqual(await prompt('framework', ''), ['flask', 'dancer', 'django']);
  assert.deepEqual(await prompt('framework', '', { language: 'cobol' }), []);
  assert.deepEqual(await prompt('project', ''), ['r0', 'r1']);
  assert.deepEqual(await prompt('file', ''), [`${base}/a/`, `${base}/b/`]);
  assert.deepEqual(await prompt('file', '', { project: 'r0' }), [`${base}/a/sub/`, `${base}/a/x.ts`]);
  assert.deepEqual(await prompt('file', 'x', { project: 'r0' }), [`${base}/a/x.ts`]);
  assert.deepEqual(await prompt('file', `${base}/b/`, { project: 'r0' }), []);
  assert.deepEqual(await prompt('file', '', { project: 'nothing' }), []);
  assert.deepEqual(await prompt('directory', `${base}/a/`), [`${base}/a/sub/`]);
  const bob = asked(t, policy, { who: peer('rootsd', { observed: { user: { uid: 1001, name: 'bob' } } }) });
  assert.deepEqual(await bob.prompt('language', ''), ['perl', 'cobol', 'python']);
  assert.deepEqual(await bob.prompt('framework', '', { language: 'cobol' }), ['cics']);
});

test('Completer offers no link that leads from the root that is chosen into another one', async (t) => {
  const base = makeTree(t, ['file a/x.ts', 'link a/over -> ../b', 'link a/far.ts -> ../b/z.ts', 'file b/z.ts']);
  const { prompt } = asked(t, `${allowing(join(base, 'a'), join(base, 'b'))}${PROMPT}`);
  assert.deepEqual(await prompt('file', `${base}/a/`), [`${base}/a/over/`, `${base}/a/x.ts`, `${base}/a/far.ts`]);
  assert.deepEqual(await prompt('file', '', { project: 'r0' }), [`${base}/a/x.ts`]);
  assert.deepEqual(await prompt('file', 'over/', { project: 'r0' }), []);
});

test('Completer offers roots that are files as what they are', async (t) => {
  const base = makeTree(t, ['file one.ts', 'file two.js', 'dir d']);
  const policy = `roots:
  one: { path: ${base}/one.ts, kind: file }
  two: { path: ${base}/two.js, kind: file }
  d: { path: ${base}/d }
rules: [{ id: a, allow: [one, two, d] }]
${PROMPT}`;
  const { prompt, path } = asked(t, policy);
  assert.deepEqual(await prompt('directory', ''), [`${base}/d/`]);
  assert.deepEqual(await prompt('file', ''), [`${base}/d/`, `${base}/one.ts`]);
  const at = (name: string) => toPathValue(join(base, name), 'file');
  assert.deepEqual(await path(''), [`${at('d')}/`, at('one.ts'), at('two.js')]);
});

test('Completer refuses what there is not, and what it cannot read', async (t) => {
  const { completer } = asked(
    t,
    `prompts:\n  p: { template: x, arguments: { a: {} } }\n  hidden: { template: x, visible-to: { users: [bob] } }\n`,
  );
  const argument = { name: 'a', value: '' };
  const prompt = { type: 'ref/prompt', name: 'p' };
  const rows: [params: Record<string, unknown>, what: RegExp][] = [
    [{}, /"argument" must be/],
    [{ argument }, /"ref.type"/],
    [{ ref: { type: 'ref/other' }, argument }, /"ref.type"/],
    [{ ref: { type: 'ref/prompt' }, argument }, /"ref.name"/],
    [{ ref: { type: 'ref/prompt', name: 'nothing' }, argument }, /no prompt "nothing"/],
    [{ ref: { type: 'ref/prompt', name: 'hidden' }, argument }, /no prompt "hidden"/],
    [{ ref: { type: 'ref/prompt', name: 'constructor' }, argument }, /no prompt/],
    [{ ref: prompt, argument: { name: 'b', value: '' } }, /no argument "b"/],
    [{ ref: prompt, argument: { name: 'a' } }, /"argument.value"/],
    [{ ref: prompt, argument, context: 5 }, /"context"/],
    [{ ref: prompt, argument, context: { arguments: { a: 5 } } }, /"context.arguments.a"/],
    [{ ref: { type: 'ref/resource', uri: 'file:///{other}' }, argument }, /no template/],
    [{ ref: { type: 'ref/resource', uri: 'file:///{+path}' }, argument }, /no variable "a"/],
  ];
  for (const [params, what] of rows) {
    await assert.rejects(completer.complete(params), (error: RequestRefused) => {
      assert.equal(error.code, -32602);
      assert.match(error.message, what);
      return true;
    });
  }
});

test('Completer answers a hundred at once and fifty a second, then says how long to wait', async (t) => {
  const clock = new FakeClock();
  const { path } = asked(t, 'roots: {}\n', { clock });
  for (let i = 0; i < 100; i++) await path(`${i}`);
  await assert.rejects(path('more'), (error: RequestRefused) => {
    assert.deepEqual([error.code, error.data], [-32600, { retryAfterMs: 20 }]);
    assert.match(error.message, /at most 50 a second/);
    return true;
  });
  for (let second = 0; second < 3; second++) {
    clock.advance(1_000);
    for (let i = 0; i < 50; i++) await path(`${i}`);
    await assert.rejects(path('more'));
  }
});

test('Completer looks once for the same question, until what it knows may be old', async (t) => {
  const base = makeTree(t, ['file a']);
  const clock = new FakeClock();
  const { path, session, completer } = asked(t, allowing(base), { clock });
  const root = toPathValue(base, 'directory');
  const looks = async () => {
    session.fetched.length = 0;
    await path(root);
    return session.fetched.length;
  };
  assert.deepEqual([await looks(), await looks()], [1, 0]);
  completer.forget();
  assert.equal(await looks(), 1);
  clock.advance(2_000);
  assert.equal(await looks(), 1);
  // What was under way when it was told to forget is not kept.
  clock.advance(2_000);
  const under = path(root);
  completer.forget();
  await under;
  assert.equal(await looks(), 1);
});

test('Completer offers nothing of a mount that does not answer', async (t) => {
  const base = makeTree(t, ['file a']);
  const real = endpointSession(t, allowing(base));
  const session = { ...real, fetch: async () => failure('lies on a file system that does not answer') };
  const completer = new Completer({ session, clock: SYSTEM_CLOCK });
  const ref = { type: 'ref/resource', uri: 'file:///{+path}' };
  const complete = async (value: string) =>
    (await completer.complete({ ref, argument: { name: 'path', value } })).completion;
  const root = toPathValue(base, 'directory');
  assert.deepEqual(await complete(root), { values: [], total: 0, hasMore: false });
  assert.deepEqual(await complete(''), { values: [root], total: 1, hasMore: false });
});

test('Completer keeps a hundred answers, and forgets the oldest', async (t) => {
  const base = makeTree(t, ['file a']);
  const clock = new FakeClock();
  const { path, session } = asked(t, allowing(base), { clock });
  const root = toPathValue(base, 'directory');
  const looks = async (value: string) => {
    session.fetched.length = 0;
    await path(`${root}${value}`);
    return session.fetched.length;
  };
  for (let i = 0; i < 100; i++) assert.equal(await looks(`${i}`), 1);
  clock.advance(1_000);
  assert.deepEqual([await looks('0'), await looks('99')], [0, 0]);
  assert.equal(await looks('more'), 1);
  assert.deepEqual([await looks('1'), await looks('0')], [0, 1]);
  // What is looked for again is the newest then.
  clock.advance(2_000);
  assert.deepEqual([await looks('3'), await looks('another'), await looks('3')], [1, 1, 0]);
});

test('Completer tells questions apart by all that is asked', async (t) => {
  const base = makeTree(t, ['file a']);
  const policy = `${allowing(base)}prompts:
  p: { template: x, arguments: { path: { values: [one, two] }, other: { values: { one: [a], two: [b] }, depends-on: path } } }
  q: { template: x, arguments: { path: { values: [q] } } }
`;
  const { completer } = asked(t, policy);
  const ask = async (ref: object, name: string, value = '', chosen: object = {}) =>
    (await completer.complete({ ref, argument: { name, value }, context: { arguments: chosen } })).completion.values;
  const [p, q] = ['p', 'q'].map((name) => ({ type: 'ref/prompt', name }));
  const file = { type: 'ref/resource', uri: 'file:///{+path}' };
  const root = toPathValue(base, 'directory');
  for (let again = 0; again < 2; again++) {
    assert.deepEqual(await ask(file, 'path'), [root]);
    assert.deepEqual([await ask(p as object, 'path'), await ask(q as object, 'path')], [['one', 'two'], ['q']]);
    assert.deepEqual(await ask(p as object, 'other', '', { path: 'one' }), ['a']);
    assert.deepEqual(await ask(p as object, 'other', '', { path: 'two' }), ['b']);
    assert.deepEqual(await ask(p as object, 'path', 'z'), []);
  }
});

test('Completer keeps no answer to a question of more than 4,096 characters', async (t) => {
  const base = makeTree(t, ['file a']);
  const { completer, session } = asked(t, allowing(base));
  const ref = { type: 'ref/resource', uri: 'file:///{+path}' };
  const argument = { name: 'path', value: toPathValue(base, 'directory') };
  for (const [length, expected] of [
    [3_500, 1],
    [4_096, 2],
  ] as const) {
    session.fetched.length = 0;
    const context = { arguments: { other: 'x'.repeat(length) } };
    for (let i = 0; i < 2; i++) await completer.complete({ ref, argument, context });
    assert.equal(session.fetched.length, expected, `${length}`);
  }
});

test('nothing that one session is offered depends on the files of another', async (t) => {
  const base = makeTree(t, ['dir ana/app', 'dir bob/app']);
  const policy = `roots: { ana: { path: ${base}/ana }, bob: { path: ${base}/bob } }
rules: [{ id: a, allow: [ana], users: [ana] }, { id: b, allow: [bob], users: [bob] }]
prompts: { p: { template: x, arguments: { file: { paths: any }, project: { roots: true } } } }
`;
  const named = (name: string, uid: number) => peer('rootsd', { observed: { user: { uid, name } } });
  const name = fc
    .string({ unit: fc.constantFrom('a', 'b', 'é', '.', '-'), minLength: 1, maxLength: 4 })
    .filter((text) => !/^\.\.?$/.test(text));
  const typed = fc.constantFrom(
    '',
    'ana/',
    'ana/app/',
    'bob/',
    'bob/app/',
    'ana/app/a',
    'bob/app/a',
    'ana/app/.',
    'ana/../bob/',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(name, { maxLength: 6 }), typed, fc.boolean(), async (names, value, isPrompt) => {
      const [ana, bob] = [asked(t, policy, { who: named('ana', 1000) }), asked(t, policy, { who: named('bob', 1001) })];
      const ref = isPrompt ? { type: 'ref/prompt', name: 'p' } : { type: 'ref/resource', uri: 'file:///{+path}' };
      const argument = isPrompt
        ? { name: 'file', value: `${base}/${value}` }
        : { name: 'path', value: `${toPathValue(base, 'directory')}${value}` };
      // The whole answer: values, how many there are, or the error.
      const answer = ({ completer }: Asked, asks: object) =>
        completer.complete({ ref, argument, ...asks }).then(
          ({ completion }) => completion,
          ({ code, message }: RequestRefused) => ({ code, message }),
        );
      const whole = async (one: Asked) => [
        await answer(one, {}),
        await answer(one, { argument: { ...argument, name: 'nothing' } }),
      ];
      const alone = await whole(ana);
      for (const [i, file] of names.entries()) writeFileSync(join(base, 'bob/app', `${i}${file}`), '');
      // Both at once, with other files on the other side: what is kept, then what is looked for.
      assert.deepEqual((await Promise.all([whole(bob), whole(ana)]))[1], alone);
      ana.completer.forget();
      assert.deepEqual((await Promise.all([whole(bob), whole(ana)]))[1], alone);
      const ask = (one: Asked) => (isPrompt ? one.prompt('file', argument.value) : one.path(argument.value));
      const [together, others] = await Promise.all([ask(ana), ask(bob)]);
      const ends = (values: readonly string[], whose: string) =>
        values.every((text) => decodeURIComponent(text).includes(`/${whose}/`));
      assert.ok(ends(together, 'ana') && ends(others, 'bob'));
      assert.deepEqual(await ana.prompt('project', ''), ['ana']);
    }),
    { numRuns: 40 },
  );
});
