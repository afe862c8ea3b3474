import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { ReloadReply } from '../../src/daemon/control.ts';
import type { RawPeer, Reply } from '../socket/raw-peer.ts';
import { TestHome } from '../support/serve.ts';

const TREE = ['dir home/a', 'dir home/b'];

function policy(title: string, more = ''): string {
  return `roots: { a: { path: ~/a, title: "${title}" }, b: { path: ~/b } }
rules:
  - { id: allow-a, allow: [a], servers: [s] }
  - { id: allow-b, allow: [b], servers: [other] }
${more}`;
}

/** The titles of a list as it is told. */
function titles(message: Reply): readonly string[] {
  const { roots } = message.params ?? message.result;
  return roots.map(({ name }: { name: string }) => name);
}

/** Asks for the list; the notices that came before the answer come with it. */
async function list(peer: RawPeer): Promise<{ readonly told: readonly string[]; readonly notices: number }> {
  peer.send({ jsonrpc: '2.0', id: 'list', method: 'roots/list' });
  for (let notices = 0; ; notices += 1) {
    const message = await peer.next();
    if (message.id === 'list') return { told: titles(message), notices };
    assert.equal(message.method, 'notifications/roots/list_changed');
  }
}

/** Waits for the view with just these titles; returns all views that came on the way, that one included. */
async function viewsUntil(peer: RawPeer, ...wanted: readonly string[]): Promise<readonly Reply[]> {
  for (const views: Reply[] = []; ; ) {
    const message = await peer.next();
    views.push(message);
    if (titles(message).join() === wanted.join()) return views;
  }
}

describe('a burst of saves', () => {
  it('is told as few changes, and the list is that of the last save', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(policy('first'));
    await home.serve();
    const [plain, watching] = [await home.peer('s'), await home.peer('s', { watch: true })];
    // On a busy machine it takes longer: a pause may be taken for its end, and nothing waits for that more than 2 s.
    let most = 2;
    const begin = performance.now();
    for (let i = 1, last = begin; i <= 200; i += 1) {
      home.policy(policy(`save ${i}`));
      await delay(4);
      if (performance.now() - last > 100) most += 1;
      last = performance.now();
    }
    most += Math.floor((performance.now() - begin) / 2_000);
    const views = await viewsUntil(watching, 'save 200');
    assert.ok(views.length <= most, `${views.length} views, at most ${most}`);
    const { told, notices } = await list(plain);
    assert.deepEqual(told, ['save 200']);
    assert.ok(notices >= 1 && notices <= most, `${notices} notices, at most ${most}`);
  });

  it('that truncates before it writes never shows an empty list', async (t) => {
    const home = new TestHome(t, TREE);
    const path = home.policy(policy('save 0'));
    await home.serve();
    const [plain, watching] = [await home.peer('s'), await home.peer('s', { watch: true })];
    for (let i = 1; i <= 12; i += 1) {
      truncateSync(path);
      await delay(100);
      assert.equal((await list(plain)).told.length, 1);
      writeFileSync(path, `version: 1\n${policy(`save ${i}`)}`);
      for (const view of await viewsUntil(watching, `save ${i}`)) assert.equal(titles(view).length, 1);
    }
  });
});

describe('an edit', () => {
  // Each beside the policy before it; none concerns server "s".
  const IRRELEVANT: readonly (readonly [what: string, edit: (text: string) => string])[] = [
    ['a comment', (text) => `# a comment\n${text}`],
    ['the order of rules', (text) => text.replace(/( {2}- .*\n)( {2}- .*\n)/, '$2$1')],
    ['the order of keys', (text) => text.replace('id: allow-a, allow: [a]', 'allow: [a], id: allow-a')],
    [
      'a rule of another server',
      (text) => text.replace('allow: [b], servers: [other]', 'allow: [b], servers: [third]'),
    ],
    ['a rule that gives the same', (text) => `${text}  - { id: z, allow: [a], users: [nobody-of-this-name] }\n`],
    ['a ceiling that holds all', (text) => `${text}ceiling: [~/**]\n`],
  ];

  it('that does not change the list of a peer sends it nothing', async (t) => {
    const home = new TestHome(t, TREE);
    const text = policy('a');
    home.policy(text);
    await home.serve();
    const [plain, watching] = [await home.peer('s'), await home.peer('s', { watch: true })];
    const generations = new Set<string>();
    for (const [i, [what, edit]] of IRRELEVANT.entries()) {
      home.policy(edit(text));
      const { generation, status } = await home.json<ReloadReply>('reload');
      generations.add(generation);
      assert.deepEqual([generations.size, status], [i + 1, 0], what);
      assert.deepEqual(await list(plain), { told: ['a'], notices: 0 }, what);
      assert.deepEqual((await watching.request('roots/list')).result.roots.length, 1, what);
    }
  });

  it('that changes it is told once to those whom it concerns, and to nobody else', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(policy('a'));
    await home.serve();
    const [concerned, other] = [await home.peer('s'), await home.peer('other')];
    home.policy(policy('a', '  - { id: more, allow: [b], servers: [s] }\n'));
    assert.equal((await concerned.next()).method, 'notifications/roots/list_changed');
    assert.deepEqual(await list(concerned), { told: ['a', 'b'], notices: 0 });
    assert.deepEqual(await list(other), { told: ['b'], notices: 0 });
  });

  it('is told as it is: a list that never was, never is told', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(policy('a'));
    home.policy('rules: [{ id: none, deny: [~/none] }]', 'user', 'z.yaml');
    await home.serve();
    const watching = await home.peer('s', { watch: true });
    // Three files of a layer change at once, one of them to something broken: nothing of the three is in force.
    home.policy(policy('b'));
    home.policy('rules: [{ id: none, deny: [~/a] }]', 'user', 'y.yaml');
    home.policy('rulse: []', 'user', 'z.yaml');
    assert.equal((await home.json<ReloadReply>('reload')).status, 1);
    assert.deepEqual(titles(await watching.request('roots/list')), ['a']);
    assert.deepEqual(watching.unread, []);
  });
});

describe('a root on the disk', () => {
  it('that is removed and made again ten times is told each time', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(policy('a'));
    await home.serve();
    const [plain, watching] = [await home.peer('s'), await home.peer('s', { watch: true })];
    for (let i = 1; i <= 10; i += 1) {
      rmSync(join(home.home, 'a'), { recursive: true });
      assert.equal((await viewsUntil(watching)).length, 1);
      assert.deepEqual(await list(plain), { told: [], notices: 1 });
      mkdirSync(join(home.home, 'a'));
      assert.equal((await viewsUntil(watching, 'a')).length, 1);
      assert.deepEqual(await list(plain), { told: ['a'], notices: 1 });
    }
  });

  it('that is another directory of the same name is told once', async (t) => {
    const home = new TestHome(t, [...TREE, 'dir home/next']);
    home.policy(policy('a'));
    await home.serve();
    const watching = await home.peer('s', { watch: true });
    renameSync(join(home.home, 'a'), join(home.home, 'old'));
    renameSync(join(home.home, 'next'), join(home.home, 'a'));
    const { params } = await watching.next();
    assert.equal(params.roots[0].uri, `file://${home.home}/a`);
    home.policy(policy('end'));
    assert.equal((await viewsUntil(watching, 'end')).length, 1);
  });

  it('that is away for a moment is told to nobody', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(policy('a'));
    await home.serve();
    const watching = await home.peer('s', { watch: true });
    renameSync(join(home.home, 'a'), join(home.home, 'away'));
    renameSync(join(home.home, 'away'), join(home.home, 'a'));
    home.policy(policy('end'));
    assert.equal((await viewsUntil(watching, 'end')).length, 1);
  });
});
