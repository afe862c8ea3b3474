import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import type { WireOffer } from '../../../src/core/protocol.ts';
import { Guard, type GuardOptions, type GuardPlan, type Judgement } from '../../../src/run/guard/guard.ts';
import { readMessage } from '../../../src/run/message.ts';
import { GUARDED_TREE, guardedPlaces, isHeld, plainlyNamed, randomArguments } from '../../support/guarded-tree.ts';
import type { Json } from '../../support/run-host.ts';
import { makeTree } from '../../support/tree.ts';

const PLAN: GuardPlan = { guard: 'on', paths: [], relativePaths: 'pass', tools: {} };

interface Setup {
  readonly base: string;
  readonly guard: Guard;
  /** What it has said to have refused. */
  readonly refused: Parameters<GuardOptions['onRefused']>[0][];
  /** What becomes of a call of a tool. */
  readonly call: (args: unknown, tool?: string) => Judgement;
}

function setUp(t: TestContext, plan: Partial<GuardPlan> = {}): Setup {
  const base = makeTree(t, GUARDED_TREE);
  const refused: Setup['refused'] = [];
  const guard = new Guard({
    timer: () => () => undefined,
    cwd: () => `${base}/a`,
    onAnswer: () => assert.fail(),
    onRefused: (call) => refused.push(call),
    homes: [`${base}/home`],
  });
  guard.update({ ...PLAN, ...plan }, guardedPlaces(base));
  const call = (args: unknown, name = 't'): Judgement => judge(guard, 'tools/call', { name, arguments: args });
  return { base, guard, call, refused };
}

function judge(guard: Guard, method: string, params: unknown, id: unknown = 1): Judgement {
  return judgeText(guard, JSON.stringify({ jsonrpc: '2.0', id, method, params }));
}

function judgeText(guard: Guard, text: string | Buffer): Judgement {
  const line = Buffer.from(`${text}\n`);
  return guard.judge(line, readMessage(line));
}

function replyOf(judgement: Judgement): Json {
  assert.ok(typeof judgement === 'object', String(judgement));
  return JSON.parse(judgement.reply ?? 'null') as Json;
}

function textOf(judgement: Judgement): string {
  const { result, error } = replyOf(judgement) as {
    readonly result?: { readonly content: readonly { readonly text: string }[]; readonly isError: boolean };
    readonly error?: { readonly message: string };
  };
  return result?.content[0]?.text ?? error?.message ?? '';
}

describe('Guard, a path that is named', () => {
  const PASSES = ['a/f', 'alias/f', 'a/self/x', 'a/none/yet', 'a/d/../f', 'a/self/../f'];
  for (const path of PASSES) {
    it(`passes inside: ${path}`, (t) => {
      const { base, call } = setUp(t);
      assert.equal(call({ path: `${base}/${path}` }), 'pass');
    });
  }

  const OUTSIDE = 'lies outside of what this server may use';
  const LEADS = 'leads outside of what this server may use, or nowhere';
  const CARVED = 'is, or holds, what this server may not use';
  const BOUND = 'may only be read: it is, or holds, the file that says what may be done there';
  const REFUSED: readonly (readonly [string, string])[] = [
    ['out/f', OUTSIDE],
    ['out/none', OUTSIDE],
    ['ax', OUTSIDE],
    ['.', OUTSIDE],
    ['a/../out/f', OUTSIDE],
    ['a/none/../../out/f', OUTSIDE],
    ['a/out', LEADS],
    ['a/out/f', LEADS],
    ['a/out/none', LEADS],
    ['a/new', LEADS],
    ['a/loop', LEADS],
    ['a/f/x', LEADS],
    // The kernel sees "a", who cancels by text sees what lies above.
    ['a/self/../../out', OUTSIDE],
    ['a/d/secret/f', CARVED],
    ['a/d/secret/none', CARVED],
    ['a/s/f', CARVED],
    ['a/self/secret', CARVED],
    ['a/d', CARVED],
    ['r/f', 'may only be read, and this call may write'],
    ['a/.rootsd.yaml', BOUND],
    // Who moves a root moves what is cut out of it.
    ['a', CARVED],
    ['a/', CARVED],
    ['a/d/..', CARVED],
    ['alias', CARVED],
  ];
  for (const [path, why] of REFUSED) {
    it(`is refused: ${path}`, (t) => {
      const { base, call } = setUp(t);
      const text = textOf(call({ path: `${base}/${path}` }));
      const may = `This server may use "${base}/a" (read-write), "${base}/r" (read-only)`;
      assert.equal(text, `Access denied by rootsd: "${base}/${path}" (in "path") ${why}. ${may}`);
    });
  }

  it('is refused as a whole where a project file binds it, but not as a place to work in', (t) => {
    const { base, guard, call } = setUp(t);
    guard.update(PLAN, [
      { root: 'a', path: `${base}/a`, access: 'read-write', carved: [] },
      { root: 'home', path: `${base}/home`, access: 'read-write', carved: [] },
    ]);
    assert.match(textOf(call({ source: `${base}/a` })), /the file that says what may be done there/);
    assert.equal(call({ source: `${base}/home` }), 'pass');
    assert.equal(call({ repo_path: `${base}/a`, cwd: `${base}/a` }), 'pass');
  });

  it('is told apart neither by what lies outside nor by what a link leads to', (t) => {
    const { base, call } = setUp(t);
    const said = (path: string): string => textOf(call({ path: `${base}/${path}` })).replace(path, 'X');
    for (const prefix of ['out', 'a/out']) {
      const all = ['f', 'none', 'f/x', 'f/..', 'none/..'].map((name) => said(`${prefix}/${name}`));
      assert.equal(new Set(all).size, 1);
    }
  });

  it('is refused in a tool result that a model can read, under the id of the call', (t) => {
    const { guard } = setUp(t);
    const params = { name: 't', arguments: { path: '/etc/passwd' } };
    const { id, result } = replyOf(judge(guard, 'tools/call', params, 'x')) as { id: string; result: Json };
    assert.equal(id, 'x');
    assert.equal(result.isError, true);
  });

  it('is told with what the call wanted of it, and nothing hidden', (t) => {
    const { base, call, refused } = setUp(t);
    call({ path: `${base}/r/f` }, 'write');
    call({ path: '/etc/pass\u202ewd' }, 'write');
    const told = { method: 'tools/call', tool: 'write', access: 'read-write' };
    assert.deepEqual(refused, [
      { ...told, path: `${base}/r/f`, reason: 'read-only' },
      { ...told, path: '/etc/pass\\u202ewd', reason: 'outside' },
    ]);
  });

  it('is refused in the era of the call', (t) => {
    const { guard } = setUp(t);
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    const { result } = replyOf(judge(guard, 'tools/call', { name: 't', arguments: { path: '/etc' }, _meta }));
    assert.equal((result as Json).resultType, 'complete');
  });

  it('is refused without an answer where none is expected', (t) => {
    const { guard } = setUp(t);
    const text = '{"jsonrpc":"2.0","method":"tools/call","params":{"arguments":{"path":"/etc"}}}';
    assert.deepEqual(judgeText(guard, text), { reply: null });
  });

  it('is shown without what would not be seen, and cut where it is long', (t) => {
    const { call } = setUp(t);
    const text = textOf(call({ path: `/\u202e${'x'.repeat(10_000)}` }));
    assert.ok(text.includes('"/\\u202exxx') && text.length < 1_000, text);
  });

  it('is refused everywhere where nothing is allowed', (t) => {
    const { base, guard, call } = setUp(t);
    guard.update(PLAN, []);
    assert.match(textOf(call({ path: `${base}/a` })), /may use no directory now$/);
  });

  it('passes everywhere where the guard is off', (t) => {
    const { call } = setUp(t, { guard: 'off' });
    assert.equal(call({ path: '/etc/passwd' }), 'pass');
  });
});

describe('Guard, requests', () => {
  const ROWS: readonly (readonly [string, unknown, boolean])[] = [
    ['resources/read', { uri: 'file:///etc/passwd' }, true],
    ['resources/read', { uri: 'memo://x' }, false],
    ['resources/subscribe', { uri: '/etc/passwd' }, true],
    ['prompts/get', { name: 'p', arguments: { file: '/etc/passwd' } }, true],
    ['completion/complete', { ref: { type: 'ref/prompt' }, argument: { name: 'path', value: '/etc/p' } }, true],
    ['completion/complete', { argument: { name: 'q', value: '/etc/p' }, context: { arguments: {} } }, false],
    ['completion/complete', { argument: { name: 'q', value: 'x' }, context: { arguments: { dir: '/etc' } } }, true],
    ['completion/complete', { ref: { uri: 'file:///etc/passwd' }, argument: { name: 'q', value: 'x' } }, true],
    ['completion/complete', { ref: { uri: 'file:///{path}' }, argument: { name: 'q', value: 'x' } }, false],
    ['tools/call', { name: 't', arguments: {}, _meta: { path: '/etc' } }, false],
    ['tools/call', { name: 't', ARGUMENTS: { path: '/etc' } }, true],
    ['tools/call', { name: 't', arguments: [{ path: '/etc' }] }, true],
    ['tools/call', null, false],
    ['tools/list', { path: '/etc' }, false],
    ['other', { path: '/etc' }, false],
  ];
  for (const [method, params, isRefused] of ROWS) {
    it(`${method} ${JSON.stringify(params)}: ${isRefused ? 'refused' : 'passes'}`, (t) => {
      const { guard } = setUp(t);
      const judgement = judge(guard, method, params);
      if (!isRefused) assert.equal(judgement, 'pass');
      else assert.equal('result' in replyOf(judgement), method === 'tools/call');
    });
  }

  /** What is no message to us, or another one, may be such a call to somebody else. */
  const HIDDEN: readonly (readonly [string, string])[] = [
    ['a second method', '{"id":1,"method":"ping","method":"tools/call","params":{"arguments":{"path":"/etc"}}}'],
    ['an escaped method', '{"id":1,"method":"tools\\/call","params":{"arguments":{"path":"/etc"}}}'],
    ['an escaped name', '{"id":1,"m\\u0065thod":"tools/call","params":{"arguments":{"path":"/etc"}}}'],
    [
      'a method in another case beside it',
      '{"id":1,"Method":"tools/call","method":"x","params":{"arguments":{"path":"/etc"}}}',
    ],
    ['names in another case', '{"id":1,"METHOD":"tools/call","Params":{"arguments":{"path":"/etc"}}}'],
    ['names in letters that are folded', '{"id":1,"method":"tools/call","param\u017f":{"arguments":{"path":"/etc"}}}'],
    ['parameters in two cases', '{"id":1,"method":"tools/call","params":{"name":"t","NAME":"u"}}'],
    ['a result beside it', '{"id":1,"result":0,"method":"tools/call","params":{"arguments":{"path":"/etc"}}}'],
    ['arguments twice', '{"id":1,"method":"tools/call","params":{"arguments":{"path":"/etc","path":"x"}}}'],
    ['no number', '{"id":1,"method":"tools/call","params":{"arguments":{"path":"/etc","n":NaN}}}'],
    ['a byte order mark', '\ufeff{"id":1,"method":"tools/call","params":{"arguments":{"path":"/etc"}}}'],
    ['lines within', '{"id":1,"method":"x",\r{"id":1,"method":"tools/call","params":{"path":"/etc"}}\r}'],
    ['a batch within a batch', '[[{"id":1,"method":"tools/call","params":{"arguments":{"path":"/etc"}}}]]'],
  ];
  for (const [what, text] of HIDDEN) {
    it(`a call behind ${what} is refused`, (t) => {
      const { guard } = setUp(t);
      const judgement = judgeText(guard, what.startsWith('a batch') ? text.slice(1, -1) : text);
      assert.ok(typeof judgement === 'object');
    });
  }

  it('all else passes: answers, notifications, blank lines', (t) => {
    const { guard } = setUp(t);
    for (const text of ['{"id":1,"result":{"path":"/etc"}}', '{"method":"notifications/x","params":{}}', '', ' \r']) {
      assert.equal(judgeText(guard, text), 'pass', text);
    }
  });
});

describe('Guard, a tool', () => {
  const write = (text: string): boolean => text.includes('this call may write');
  const list = { tools: [{ name: 'reader', annotations: { readOnlyHint: true } }, { name: 'silent' }, null, 5] };

  it('writes unless the server says otherwise, and the catalogue before the server', (t) => {
    const { base, guard, call } = setUp(t, { tools: { known: 'read', reader2: 'write' } });
    const file = { path: `${base}/r/f` };
    assert.ok(write(textOf(call(file, 'reader'))), 'not listed yet');
    guard.tools.learn({ tools: [...list.tools, { name: 'reader2', annotations: { readOnlyHint: true } }] });
    assert.equal(call(file, 'reader'), 'pass');
    assert.equal(call(file, 'known'), 'pass');
    for (const tool of ['silent', 'reader2', 'toString', 'never']) assert.ok(write(textOf(call(file, tool))), tool);
  });

  it('that writes and names no place is refused where nothing may be written, and only there', (t) => {
    const { base, guard, call, refused } = setUp(t, { tools: { save: 'write', load: 'read' } });
    guard.tools.learn(list);
    assert.equal(call({ text: 'x' }, 'save'), 'pass');
    const readOnly = guardedPlaces(base).filter(({ access }) => access === 'read-only');
    guard.update({ guard: 'on', paths: [], relativePaths: 'pass', tools: { save: 'write', load: 'read' } }, readOnly);
    const may = `This server may use "${base}/r" (read-only)`;
    assert.equal(
      textOf(call({ text: 'x' }, 'save')),
      `Access denied by rootsd: "save" may write, and nothing may be written. ${may}`,
    );
    // Hosts call what they have listed in another session: of what is not known this is not assumed.
    for (const tool of ['load', 'reader', 'silent', 'never-listed']) assert.equal(call({}, tool), 'pass', tool);
    assert.equal(judge(guard, 'prompts/get', { name: 'save', arguments: {} }), 'pass');
    const told = { method: 'tools/call', path: null, access: 'read-write', reason: 'nothing-writable' };
    assert.deepEqual(refused, [{ ...told, tool: 'save' }]);
  });

  it('has paths where its schema says so', (t) => {
    const { guard, call } = setUp(t);
    assert.equal(call({ where: '/etc', items: ['/etc'] }), 'pass');
    const properties = {
      where: { anyOf: [{ type: 'string', format: 'path' }, { type: 'null' }] },
      nested: { type: 'object', properties: { items: { type: 'array', items: { format: 'uri' } } } },
    };
    guard.tools.learn({ tools: [{ name: 't', inputSchema: { type: 'object', properties } }] });
    assert.match(textOf(call({ where: '/etc' })), /\(in "where"\)/);
    assert.match(textOf(call({ nested: { items: ['/etc'] } })), /\(in "items"\)/);
    assert.equal(call({ where: '/etc' }, 'other'), 'pass');
  });
});

it('Guard tells nobody of what is not said again: no host has called', (t) => {
  const { base, guard, refused } = setUp(t);
  const again = (uri: string) => {
    const line = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri } }));
    return guard.mayPassAgain(line, readMessage(line));
  };
  assert.deepEqual([again(`file://${base}/a/f`), again(`file://${base}/out/f`)], [true, false]);
  assert.deepEqual(refused, []);
});

describe('Guard, a call that names very many places', () => {
  /** A guard that says when what waits may be judged again. */
  function setUpMany(t: TestContext) {
    const base = makeTree(t, GUARDED_TREE);
    let wake = (): void => undefined;
    const guard = new Guard({
      timer: () => () => undefined,
      cwd: () => base,
      onAnswer: () => wake(),
      onRefused: () => {},
    });
    guard.update({ ...PLAN, tools: { t: 'read' } }, guardedPlaces(base));
    const many = Array.from({ length: 20_000 }, (_, i) => `${base}/a/${i}`);
    const decided = async (paths: readonly string[]): Promise<Judgement> => {
      for (;;) {
        const done = new Promise<void>((resolve) => {
          wake = resolve;
        });
        const judgement = judge(guard, 'tools/call', { name: 't', arguments: { paths } });
        if (judgement !== 'wait') return judgement;
        await done;
      }
    };
    return { base, guard, many, decided };
  }

  it('is judged to its end while others have their turn', async (t) => {
    const { base, many, decided } = setUpMany(t);
    let turns = 0;
    const count = setInterval(() => {
      turns += 1;
    }, 0);
    assert.equal(await decided(many), 'pass');
    assert.ok(turns > 5, `${turns} turns`);
    assert.match(textOf(await decided([...many, `${base}/out/f`])), /out\/f" \(in "paths"\) lies outside/);
    clearInterval(count);
  });

  it('is judged by what holds when it is done', async (t) => {
    const { base, guard, many, decided } = setUpMany(t);
    const judgement = decided(many);
    guard.update({ ...PLAN, tools: { t: 'read' } }, guardedPlaces(base).slice(1));
    assert.match(textOf(await judgement), /lies outside/);
  });

  it('is refused where nobody would look at so many', async (t) => {
    const { base, decided } = setUpMany(t);
    const text = textOf(await decided(Array.from({ length: 50_001 }, () => `${base}/a/f`)));
    assert.match(text, /a\/f" \(in "paths"\) is one of more places than are looked at for one call/);
  });
});

it('Guard lets no path outside through, however arguments are built', (t) => {
  const { base, guard } = setUp(t, { tools: { t: 'read' } });
  let passed = 0;
  const property = fc.property(randomArguments(base), fc.constantFrom('tools/call', 'prompts/get'), (args, method) => {
    if (judge(guard, method, { name: 't', arguments: args }) !== 'pass') return;
    passed += 1;
    for (const named of plainlyNamed(args)) assert.ok(isHeld(base, named), named);
  });
  fc.assert(property, { numRuns: 4_000 });
  assert.ok(passed > 300, `only ${passed} passed`);
});

describe('Guard, what a person could give', () => {
  const offersOf = (base: string, access: WireOffer['access'], carved: readonly string[] = []): WireOffer[] => [
    { root: 'out', path: `${base}/out`, access, carved },
  ];
  const consider = (guard: Guard, path: unknown, method = 'tools/call') => {
    const params = method === 'tools/call' ? { name: 't', arguments: { path } } : { uri: `file://${path}` };
    const line = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
    return guard.consider(line, readMessage(line));
  };
  const offering = (t: TestContext, access: WireOffer['access']) => {
    const setup = setUp(t);
    setup.guard.update(PLAN, guardedPlaces(setup.base), offersOf(setup.base, access));
    return setup;
  };

  it('names it, once for all that lies in it, with the access that the call needs', (t) => {
    const { base, guard, refused } = offering(t, 'read-write');
    assert.deepEqual(consider(guard, [`${base}/out/f`, `${base}/a/out/g`, `${base}/a/f`]), {
      wants: [{ path: `${base}/out/f`, access: 'read-write' }],
    });
    assert.deepEqual(consider(guard, `${base}/out/f`, 'resources/read'), {
      wants: [{ path: `${base}/out/f`, access: 'read-only' }],
    });
    assert.deepEqual(refused, []);
  });

  it('names nothing where the call is denied anyway, needs more, or is no call that waits', (t) => {
    const { base, guard } = offering(t, 'read-only');
    const outside = 'lies outside of what this server may use';
    for (const [judged, why] of [
      [consider(guard, `${base}/out/f`), outside],
      [consider(guard, [`${base}/out/f`, '/etc/passwd'], 'tools/call'), outside],
      [consider(guard, `${base}/out/f`, 'completion/complete'), outside],
      [judge(guard, 'resources/read', { uri: `file://${base}/out/f` }), outside],
    ] as const) {
      assert.ok(textOf(judged as Judgement).includes(why), JSON.stringify(judged));
    }
    const notification = JSON.stringify({ method: 'resources/read', params: { uri: `file://${base}/out/f` } });
    const line = Buffer.from(notification);
    assert.deepEqual(guard.consider(line, readMessage(line)), { reply: null });
  });

  it('names nothing of what would be held back once it is given', (t) => {
    const { base, guard } = setUp(t);
    guard.update(PLAN, [], offersOf(base, 'read-write', [`${base}/out/f`]));
    assert.ok('reply' in (consider(guard, `${base}/out/f`) as object));
    assert.ok('reply' in (consider(guard, `${base}/out/.rootsd.yaml`) as object));
    assert.ok('reply' in (consider(guard, `${base}/out`) as object), 'as a whole it holds what is cut out');
  });

  it('says why it is not given: a person has refused it, or what is said', (t) => {
    const { base, guard, refused } = offering(t, null);
    assert.match(textOf(consider(guard, `${base}/out/f`) as Judgement), /a person has refused it/);
    guard.update(PLAN, [], offersOf(base, 'read-write'));
    const params = { name: 't', arguments: { path: `${base}/out/f` } };
    const line = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }));
    assert.match(textOf(guard.judge(line, readMessage(line), 'no-agent')), /nobody can be asked now/);
    assert.deepEqual(
      refused.map(({ reason }) => reason),
      ['refused', 'no-agent'],
    );
  });

  it('asks for at most 16 places', (t) => {
    const { base, guard } = setUp(t);
    const names = Array.from({ length: 17 }, (_, i) => `${base}/out/${i}`);
    guard.update(
      PLAN,
      [],
      names.map((path) => ({ root: path, path, access: 'read-write', carved: [] })),
    );
    assert.ok('wants' in (consider(guard, names.slice(1)) as object));
    assert.match(textOf(consider(guard, names) as Judgement), /too much is asked for already/);
  });
});
