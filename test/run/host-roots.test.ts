import assert from 'node:assert/strict';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Places } from '../../src/run/guard/places.ts';
import { HostRoots, type HostRootsList } from '../../src/run/host-roots.ts';
import type { Reply } from '../../src/run/own-requests.ts';
import { childrenOf } from '../support/children.ts';
import { viewOf } from '../support/fake-daemon.ts';
import { ManualTimer } from '../support/manual-timer.ts';
import { mountLine } from '../support/mount-line.ts';
import { needsMounts, runWithPrivateMounts } from '../support/private-mounts.ts';
import { type Json, type RunHost, useRun } from '../support/run-host.ts';
import { startRunInProcess } from '../support/run-in-process.ts';
import { type RunSetup, setUpRun } from '../support/run-setup.ts';
import { makeTree } from '../support/tree.ts';

const listOf = (...uris: readonly unknown[]): Reply => ({ result: { roots: uris.map((uri) => ({ uri })) } });

const listEntries = (...roots: readonly unknown[]): Reply => ({ result: { roots } });

interface Heard {
  readonly roots: HostRoots;
  readonly lists: HostRootsList[];
  readonly warnings: Set<string>;
  readonly timer: ManualTimer;
}

/** What becomes of lists that a host tells. `script`: what looks at places on the mounts of `mountInfo`. */
function hear(t: TestContext, { ask, ...more }: HearOptions = {}): Heard {
  const timer = new ManualTimer();
  const heard = { lists: [] as HostRootsList[], warnings: new Set<string>(), timer };
  const roots = new HostRoots({
    ask: ask ?? (() => assert.fail()),
    onChange: (list) => heard.lists.push(list),
    warn: (sentence) => heard.warnings.add(sentence),
    timer: timer.after,
    openPlaces: (onAnswer) => new Places({ timer: timer.after, onAnswer, ...more }),
  });
  t.after(() => roots.close());
  return { ...heard, roots };
}

interface HearOptions {
  readonly ask?: () => Promise<Reply>;
  readonly mountInfo?: string;
  readonly script?: string;
}

describe('HostRoots.told()', () => {
  /** An answer of the host, in a tree with directory `d`, link `l` to it and file `f`; the limits; how many warnings. */
  const ROWS: readonly (readonly [string, (base: string) => Reply, readonly string[] | null, number])[] = [
    ['an empty list is a list', () => listOf(), [], 0],
    ['a directory', (base) => listOf(`file://${base}/d`), ['d'], 0],
    ['a link is what it leads to', (base) => listOf(`file://${base}/l`), ['d'], 0],
    ['a directory with localhost', (base) => listOf(`file://localhost${base}/d`), ['d'], 0],
    ['what does not exist limits to nothing', (base) => listOf(`file://${base}/none`), [], 0],
    ['a bare absolute path is taken as one', (base) => listOf(`${base}/d`), ['d'], 1],
    [
      'a foreign scheme beside a usable one is left out',
      (base) => listOf('vscode-remote://x/y', `file://${base}/d`),
      ['d'],
      1,
    ],
    ['foreign schemes alone are no list', () => listOf('vscode-remote://x/y', 'https://x/'), null, 3],
    ['relative paths, bare names and nothing are no list', () => listOf('./x', 'x', '', undefined, 7), null, 4],
    ['another host is no list', () => listOf('file://server/share'), null, 2],
    ['two slashes and a backslash are no list', () => listOf('file://C:\\x'), null, 2],
    ['an error is no list', () => ({ error: { code: -32601, message: 'x' } }), null, 1],
    ['silence is no list', () => null, null, 1],
    ['a result without roots is no list', () => ({ result: {} }), null, 1],
    ['a list that is none is no list', () => ({ result: { roots: 'x' } }), null, 1],
    [
      'an entry of more than 4 KiB is left out',
      (base) => listOf(`file://${base}/${'x'.repeat(4_096)}`, `file://${base}/d`),
      ['d'],
      0,
    ],
    ['null is no list', () => ({ result: null }), null, 1],
    ['a list that is null is no list', () => ({ result: { roots: null } }), null, 1],
    ['entries that are null are left out', (base) => listEntries(null, { uri: `file://${base}/d` }), ['d'], 1],
    ['a name does not matter', (base) => listEntries({ uri: `file://${base}/d`, name: 'working_directory' }), ['d'], 0],
    ['encoded characters are decoded once', (base) => listOf(`file://${base}/a%C3%A9%2525`), ['aé%25'], 0],
    [
      'encoded slashes, NUL and what is no encoding are no list',
      () => listOf('file:///a%2Fb', 'file:///a%00', 'file:///a%zz', 'file:///a%ff'),
      null,
      5,
    ],
    ['only 64 entries are used', (base) => listOf(...Array(64).fill(`file://${base}/none`), `file://${base}/d`), [], 1],
  ];
  for (const [what, reply, limits, warnings] of ROWS) {
    it(`${what}`, (t) => {
      const base = makeTree(t, ['dir d', 'link l -> d', 'dir aé%25']);
      const { roots, lists, warnings: said } = hear(t);
      roots.told(reply(base));
      assert.deepEqual(
        lists.map((list) => list.limits),
        [limits?.map((name) => `${base}/${name}`) ?? null],
      );
      assert.equal(said.size, warnings, [...said].join('\n'));
    });
  }

  it('reads "/" as a limit that everything lies in', (t) => {
    const { roots, lists } = hear(t);
    roots.told(listOf('file:///'));
    assert.deepEqual(lists, [{ limits: ['/'], uris: ['file:///'] }]);
  });
});

/** Says that it has started, and answers nothing. */
const HANGING = "process.stdout.write('ready\\n'); process.stdin.resume(); setInterval(() => undefined, 1e9);";
const HELPER = fileURLToPath(new URL('../../src/disk/slow-places-helper.ts', import.meta.url));

/** How many processes of ours run what lies below `base`: those of another test may just be ending. */
function countHelpers(base: string): number {
  const commandOf = (pid: number): string => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    } catch {
      return '';
    }
  };
  return childrenOf(process.pid).filter((pid) => commandOf(pid).includes(base)).length;
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('HostRoots, where a root lies on a mount that may hang', () => {
  /** `net` is on one; what looks at it runs this. */
  function setUpSlow(t: TestContext, script: string): Heard & { readonly base: string; run(script: string): void } {
    const base = makeTree(t, ['dir net/d', 'dir here', 'link way -> net/d']);
    writeFileSync(`${base}/mounts`, `${mountLine('1 0 / ext4')}\n${mountLine(`2 1 ${base}/net nfs4`)}\n`);
    const run = (text: string): void => writeFileSync(`${base}/helper.mjs`, text);
    run(script);
    return { ...hear(t, { mountInfo: `${base}/mounts`, script: `${base}/helper.mjs` }), base, run };
  }

  it('has it looked at by another process, and holds to what was listed before until then', async (t) => {
    const { roots, lists, base } = setUpSlow(t, `import ${JSON.stringify(HELPER)};`);
    roots.told(listOf(`file://${base}/here`));
    const uris = ['net/d', 'way', 'net/none', 'here'].map((path) => `file://${base}/${path}`);
    roots.told(listOf(...uris));
    assert.deepEqual([lists.length, roots.isLooking], [1, true]);
    await until(() => !roots.isLooking);
    assert.deepEqual(lists[1], { limits: [`${base}/net/d`, `${base}/net/d`, `${base}/here`], uris });
  });

  it('leaves it out where nothing answers, says so, and takes it in as soon as it does', async (t) => {
    const { roots, lists, warnings, timer, base, run } = setUpSlow(t, HANGING);
    const helpers = () => countHelpers(base);
    roots.told(listOf(`file://${base}/net/d`, `file://${base}/here`));
    timer.advance(2_000);
    assert.deepEqual(
      lists.map(({ limits }) => limits),
      [[`${base}/here`]],
    );
    assert.deepEqual([...warnings].length, 1);
    run(`import ${JSON.stringify(HELPER)};`);
    await until(() => helpers() === 0);
    await until(() => {
      timer.advance(6_000);
      return helpers() > 0;
    });
    await until(() => lists.length === 2);
    assert.deepEqual(lists[1]?.limits, [`${base}/net/d`, `${base}/here`]);
    timer.advance(100_000);
    assert.equal(lists.length, 2);
  });

  it('forgets it where the host lists others', async (t) => {
    const { roots, lists, base, timer } = setUpSlow(t, HANGING);
    roots.told(listOf(`file://${base}/net/d`));
    roots.told(listOf(`file://${base}/here`));
    assert.deepEqual(
      lists.map(({ limits }) => limits),
      [[`${base}/here`]],
    );
    timer.advance(100_000);
    assert.equal(lists.length, 1);
  });
});

describe('HostRoots', () => {
  /** Questions to the host, which a test answers. */
  function askByHand(t: TestContext): Heard & { readonly replies: ((reply: Reply) => void)[] } {
    const replies: ((reply: Reply) => void)[] = [];
    const ask = (): Promise<Reply> => new Promise((resolve) => replies.push(resolve));
    return { ...hear(t, { ask }), replies };
  }

  const limitsOf = ({ lists }: Heard) => lists.map(({ limits }) => limits);

  it('asks again where they change while it asks, and leaves out what was true before', async (t) => {
    const heard = askByHand(t);
    const { roots, replies } = heard;
    const done = roots.refresh();
    for (let i = 0; i < 3; i++) void roots.refresh();
    replies[0]?.(listOf('file:///'));
    while (replies.length < 2) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(limitsOf(heard), []);
    replies[1]?.(listOf());
    await done;
    assert.deepEqual([limitsOf(heard), replies.length], [[[]], 2]);
  });

  it('keeps what was listed before where the host falls silent, and nothing where it says that there is no list', async (t) => {
    const heard = askByHand(t);
    const { roots, replies, warnings } = heard;
    for (const reply of [listOf('file:///'), null, { error: {} }]) {
      const done = roots.refresh();
      replies.at(-1)?.(reply);
      await done;
    }
    assert.deepEqual(limitsOf(heard), [['/'], ['/'], null]);
    assert.deepEqual(
      [...warnings].map((sentence) => sentence.slice(0, 18)),
      ['The host does not ', 'The host offers ro'],
    );
  });
});

const program = useRun();

/** Answers the question of `run` for the host's roots. */
async function answerRoots(host: RunHost, answer: Json): Promise<void> {
  const { id } = await host.next(({ method }) => method === 'roots/list');
  host.skip();
  host.send({ id, ...answer });
}

const rootsOf = (...paths: readonly string[]): Json => ({
  result: { roots: paths.map((path) => ({ uri: `file://${path}` })) },
});

async function askRoots(host: RunHost): Promise<readonly unknown[]> {
  const answer = (await host.ask('roots')) as { result: { roots: Json[] } };
  return answer.result.roots.map(({ uri }) => String(uri).replace('file://', ''));
}

function setUp(t: TestContext, plan: { hostRoots?: 'ignore' } = {}): Promise<RunSetup> {
  return setUpRun(t, program(), { plan, allowed: ['a', 'b'] });
}

describe('rootsd run, roots of the host', () => {
  it('narrow the first list already, and the daemon hears of them', async (t) => {
    const { base, daemon, host } = await setUp(t);
    await host.initialize({ roots: {} });
    const list = askRoots(host);
    await answerRoots(host, rootsOf(`${base}/b`, `${base}/elsewhere`));
    assert.deepEqual(await list, [`${base}/b`]);
    assert.equal(await host.ask('list-changed'), 0);
    assert.deepEqual((await daemon.next('rootsd/hostRoots')).params, {
      roots: [{ uri: `file://${base}/b` }, { uri: `file://${base}/elsewhere` }],
    });
  });

  it('narrow to a place below a root of the policy, never to one outside', async (t) => {
    const { base, host } = await setUp(t);
    symlinkSync('/', `${base}/a/out`);
    await host.initialize({ roots: { listChanged: true } });
    await answerRoots(host, rootsOf(`${base}/a/out`, `${base}/a/out/etc`, `${base}/a/../b`));
    assert.deepEqual(await askRoots(host), [`${base}/a`, `${base}/b`], '"/" narrows nothing');
    host.send({ method: 'notifications/roots/list_changed' });
    await answerRoots(host, rootsOf(`${base}/a/out/etc`, `${base}/a/../b`));
    assert.deepEqual(await askRoots(host), [`${base}/b`]);
  });

  it('are asked for again when they change, and the server hears of the new list', async (t) => {
    const { base, host } = await setUp(t);
    await host.initialize({ roots: {} });
    await answerRoots(host, rootsOf(base));
    assert.deepEqual(await askRoots(host), [`${base}/a`, `${base}/b`]);
    host.send({ method: 'notifications/roots/list_changed' });
    await answerRoots(host, rootsOf(`${base}/a`, `${base}/a/`, `${base}/b/../a`));
    assert.deepEqual(await askRoots(host), [`${base}/a`]);
    assert.equal(await host.ask('list-changed'), 1);
  });

  it('narrow a later view of the policy too', async (t) => {
    const { base, daemon, host } = await setUp(t);
    await host.initialize({ roots: {} });
    await answerRoots(host, rootsOf(`${base}/b`));
    daemon.publish(viewOf({ a: `${base}/a` }, '02'));
    while ((await daemon.next('rootsd/ack')).params.generation !== '02');
    const [only] = await askRoots(host);
    assert.match(String(only), /\/empty-[0-9a-f]+$/);
  });

  it('that are an empty list narrow to nothing', async (t) => {
    const { host } = await setUp(t);
    await host.initialize({ roots: {} });
    await answerRoots(host, rootsOf());
    assert.match(String((await askRoots(host))[0]), /\/empty-[0-9a-f]+$/);
    await host.said('rootsd allow');
  });

  it('that are not told are as good as none, with one warning; the list waits for at most half a second', async (t) => {
    const { base, host } = await setUp(t);
    await host.initialize({ roots: {} });
    assert.deepEqual(await askRoots(host), [`${base}/a`, `${base}/b`]);
    await host.said('The host offers roots, but does not list them');
  });

  it('that end in an error are as good as none', async (t) => {
    const { base, host } = await setUp(t);
    await host.initialize({ roots: {} });
    await answerRoots(host, { error: { code: -32601, message: 'Method not found' } });
    assert.deepEqual(await askRoots(host), [`${base}/a`, `${base}/b`]);
    await host.said('lists none that can be read');
  });

  for (const [what, capabilities, plan] of [
    ['where the host offers none', {}, {}],
    ['where the policy says "host-roots: ignore"', { roots: {} }, { hostRoots: 'ignore' }],
  ] as const) {
    it(`are not asked for ${what}`, async (t) => {
      const { base, host } = await setUp(t, plan);
      await host.initialize(capabilities);
      host.send({ method: 'notifications/roots/list_changed' });
      assert.deepEqual(await askRoots(host), [`${base}/a`, `${base}/b`]);
      assert.equal(host.output.includes('roots/list'), false);
    });
  }

  it('narrow as soon as the policy says so, and no longer when it says "host-roots: ignore"', async (t) => {
    const { base, daemon, host } = await setUp(t, { hostRoots: 'ignore' });
    const allowed = viewOf({ a: `${base}/a`, b: `${base}/b` });
    await host.initialize({ roots: {} });
    assert.deepEqual(await askRoots(host), [`${base}/a`, `${base}/b`]);
    daemon.plan = { ...daemon.plan, hostRoots: 'narrow' };
    daemon.publish({ ...allowed, generation: '02' });
    await answerRoots(host, rootsOf(`${base}/b`));
    assert.deepEqual(await askRoots(host), [`${base}/b`]);
    daemon.plan = { ...daemon.plan, hostRoots: 'ignore' };
    daemon.publish({ ...allowed, generation: '03' });
    while ((await daemon.next('rootsd/ack')).params.generation !== '03');
    assert.deepEqual(await askRoots(host), [`${base}/a`, `${base}/b`]);
    assert.equal(await host.ask('list-changed'), 2);
  });

  it('that are an answer which is no JSON are as good as none', async (t) => {
    const { base, host } = await setUp(t);
    await host.initialize({ roots: {} });
    const { id } = await host.next(({ method }) => method === 'roots/list');
    host.skip();
    host.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"roots":[{"uri":"x}\n`);
    assert.deepEqual(await askRoots(host), [`${base}/a`, `${base}/b`]);
    await host.said('lists none that can be read');
  });

  it('are asked for under an id that no server can use meanwhile', async (t) => {
    const { host } = await setUp(t);
    await host.initialize({ roots: {} });
    const { id } = await host.next(({ method }) => method === 'roots/list');
    assert.match(String(id), /^rootsd-[0-9a-f]{32}-1$/);
    host.skip();
    const raw = JSON.stringify({ jsonrpc: '2.0', id, method: 'sampling/createMessage' });
    const answer = (await host.ask('roots', { rootsId: id as string, raw })) as { error: { code: number } };
    assert.equal(answer.error.code, -32600);
    assert.equal(host.output.includes('sampling'), false);
  });

  it('that come as an answer of a megabyte are no message to the server', async (t) => {
    const { base, host } = await setUp(t);
    await host.initialize({ roots: {} });
    const { id } = await host.next(({ method }) => method === 'roots/list');
    host.skip();
    const roots = Array.from({ length: 64 }, () => ({ uri: `file://${base}/a`, name: 'x'.repeat(16_000) }));
    host.write(`${JSON.stringify({ result: { roots }, jsonrpc: '2.0', id })}\n`);
    assert.deepEqual(await askRoots(host), [`${base}/a`]);
    assert.equal(
      ((await host.ask('received')) as string[]).some((line) => line.includes('xxxx')),
      false,
    );
  });
});

describe('rootsd run, where a file system hangs that its arguments and the host name', () => {
  it('goes on at once, and leaves out what lies there', { skip: needsMounts() }, (t) => {
    const base = makeTree(t, ['dir a', 'dir b', 'dir run', 'dir hangs']);
    const report = runWithPrivateMounts<Json>('./run-on-hung-mount.ts', [base]);
    assert.deepEqual(report, { echo: { is: 'heard' }, before: ['a', 'b'], after: ['a'], replaced: true });
  });
});

describe('RunSession, roots of the host', () => {
  it("that come after the deadline are nobody's: not used, and not passed to the server", async (t) => {
    const timer = new ManualTimer();
    const { base, host, said } = startRunInProcess(t, {
      tree: ['dir a', 'dir b'],
      allowed: ['a', 'b'],
      timer: timer.after,
    });
    const asked = host.next(({ method }) => method === 'roots/list');
    await host.initialize({ roots: {} });
    const { id } = await asked;
    timer.advance(5_000);
    while (!said().includes('does not list them')) await new Promise((resolve) => setImmediate(resolve));
    host.send({ id, ...rootsOf(`${base}/b`) });
    const { result } = (await host.request(7, 'roots')) as { result: { result: { roots: Json[] } } };
    assert.deepEqual(
      result.result.roots.map(({ name }) => name),
      ['a', 'b'],
    );
    const received = (await host.request(8, 'received')).result as string[];
    assert.equal(
      received.some((line) => line.includes(String(id))),
      false,
    );
  });
});
