import assert from 'node:assert/strict';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { StatusReply } from '../../src/daemon/control.ts';
import type { ExplainedDecision } from '../../src/daemon/explain.ts';
import { SYSTEM_LAYER, TestHome } from '../support/serve.ts';

const ALLOW_A = 'roots: { a: { path: ~/a } }\nrules: [{ id: allow-a, allow: [a] }]\n';
const TREE = ['dir home/a', 'dir home/b'];

async function effect(home: TestHome, root = 'a'): Promise<string> {
  const { effect: answer, source } = await home.json<ExplainedDecision>('explain', root, '--claims', 's');
  assert.equal(source, 'daemon');
  return answer;
}

describe('the daemon', () => {
  it('activates a policy as it is saved', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(ALLOW_A);
    const daemon = await home.serve();
    assert.equal(await effect(home), 'allow');
    home.policy(ALLOW_A.replace('allow: [a]', 'deny: [a]'));
    await daemon.logged('layer activated', 2);
    assert.equal(await effect(home), 'deny');
  });

  it('takes away what a rule allows until some time when that has come, and writes down the time', async (t) => {
    const home = new TestHome(t, TREE);
    const daemon = await home.serve();
    const peer = await home.peer('s', { watch: true });
    const until = `${new Date(Date.now() + 6_000).toISOString().slice(0, 19)}Z`;
    home.policy(ALLOW_A.replace('allow: [a]', `allow: [a], until: ${until}`));
    const { params: given } = await peer.next();
    assert.deepEqual([given.roots.length, given.view[0].why], [1, `rule "allow-a" allows it until ${until}`]);
    const { params: taken } = await peer.next();
    assert.ok(Date.now() >= Date.parse(until));
    assert.deepEqual([taken.roots, taken.view[0].why], [[], `rule "allow-a" allowed it until ${until}`]);
    assert.equal(taken.generation, given.generation);
    assert.equal(await effect(home), 'deny');
    await daemon.kill('SIGTERM');
    const kept = JSON.parse(readFileSync(join(home.home, '.local/state/rootsd/consents.json'), 'utf8'));
    assert.ok(kept.lasting.ms >= Date.parse(until));
  });

  it('keeps the last good policy of a layer that breaks, says so, and takes the next good one', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(ALLOW_A);
    const daemon = await home.serve();
    for (const [i, broken] of ['rules: [', `${ALLOW_A}tests: [{ claims: s, root: a, expect: deny }]`].entries()) {
      const before = await home.json<StatusReply>('status');
      home.policy(broken);
      await daemon.logged('layer rejected', i + 1);
      const { state, problems, generation, status } = await home.json<StatusReply>('status');
      assert.deepEqual([state, status, generation], ['degraded', 0, before.generation]);
      assert.equal(problems.length > 0, true);
      assert.equal(await effect(home), 'allow');
      home.policy(`${ALLOW_A}# ${i}`);
      await daemon.logged('layer activated', i + 2);
      assert.equal((await home.json<StatusReply>('status')).state, 'ok');
    }
  });

  it('lets a deny of the system layer act at once, however broken the user layer is', SYSTEM_LAYER, async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(ALLOW_A);
    const daemon = await home.serve();
    home.policy('rules: [');
    await daemon.logged('layer rejected');
    home.policy('rules: [{ id: no-a, deny: [~/a] }]', 'system');
    await daemon.logged('layer activated', 2);
    assert.equal(await effect(home), 'deny');
  });

  it('activates nothing of a layer of which one file is broken', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(ALLOW_A);
    const daemon = await home.serve();
    home.policy('rules: [', 'user', 'broken.yaml');
    await daemon.logged('layer rejected');
    home.policy('roots: { b: { path: ~/b } }\nrules: [{ id: allow-b, allow: [b] }]', 'user', 'more.yaml');
    assert.equal((await home.run('reload')).status, 1);
    const { status, err } = await home.run('explain', 'b', '--claims', 's');
    assert.equal(status, 64, err);
    assert.equal(await effect(home), 'allow');
  });

  it('takes a layer that disappears for unreadable, until it is back or accepted as empty', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(ALLOW_A);
    const daemon = await home.serve();
    const directory = home.directory('user');
    renameSync(directory, `${directory}.away`);
    await daemon.logged('layer rejected');
    assert.equal((await home.json<StatusReply>('status')).state, 'degraded');
    assert.equal(await effect(home), 'allow');

    renameSync(`${directory}.away`, directory);
    await daemon.logged('layer activated', 2);
    assert.equal((await home.json<StatusReply>('status')).state, 'ok');

    home.remove(join(directory, 'test.yaml'));
    await daemon.logged('layer rejected', 2);
    const { status } = await home.run('reload', '--accept-empty');
    assert.equal(status, 0);
    assert.equal((await home.json<StatusReply>('status')).state, 'ok');
    assert.equal((await home.run('explain', 'a', '--claims', 's')).status, 64);
  });

  it('starts with the last good policy where the policy is broken', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(ALLOW_A);
    await (await home.serve()).kill('SIGTERM');
    home.policy('rules: [');
    await home.serve();
    assert.equal((await home.json<StatusReply>('status')).state, 'degraded');
    assert.equal(await effect(home), 'allow');
  });

  it('starts in lockdown where nothing is valid, and leaves it with the first good policy', SYSTEM_LAYER, async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(ALLOW_A);
    home.policy('rules: [', 'system');
    const daemon = await home.serve();
    const { state, status } = await home.json<StatusReply>('status');
    assert.deepEqual([state, status], ['lockdown', 0]);
    const { roots } = await home.json<{ roots: unknown[] }>('roots', '--claims', 's');
    assert.deepEqual(roots, []);
    home.policy('ceiling: [~/**]', 'system');
    await daemon.logged('layer activated', 2);
    assert.equal(await effect(home), 'allow');
  });

  it(
    'starts in lockdown where a layer is gone and what was kept of it is damaged: its denies are not known',
    SYSTEM_LAYER,
    async (t) => {
      const home = new TestHome(t, TREE);
      home.policy(ALLOW_A, 'system');
      home.policy('rules: [{ id: no-a, deny: [a] }]');
      await (await home.serve()).kill('SIGTERM');
      home.remove(home.directory('user'));
      const kept = join(home.home, '.local/state/rootsd/last-good/user.json');
      writeFileSync(kept, readFileSync(kept, 'utf8').replace('no-a', 'no-b'));
      await home.serve();
      assert.equal((await home.json<StatusReply>('status')).state, 'lockdown');
      assert.equal((await home.run('reload', '--accept-empty')).status, 0);
      assert.equal((await home.json<StatusReply>('status')).state, 'ok');
      assert.equal(await effect(home), 'allow');
    },
  );

  it(
    'lets an upper layer take a name: what a kept lower layer declared and granted by it is gone',
    SYSTEM_LAYER,
    async (t) => {
      const home = new TestHome(t, [...TREE, 'dir srv']);
      home.policy('roots: { data: { path: ~/a } }\nrules: [{ id: mine, allow: [data], access: read-write }]');
      const daemon = await home.serve();
      assert.equal(await effect(home, 'data'), 'allow');
      home.policy(`roots: { data: { path: ${home.base}/srv } }`, 'system');
      await daemon.logged('layer rejected');
      assert.equal(await effect(home, 'data'), 'deny');
      assert.equal((await home.run('explain', join(home.home, 'a'), '--claims', 's')).status, 1);
    },
  );

  it('does not start with a broken rootsd.yaml: exit 78', async (t) => {
    const home = new TestHome(t);
    home.put(join(home.home, '.config/rootsd/rootsd.yaml'), 'version: 1\nlog: { level: loud }\n');
    const { status, err } = await (await home.serve()).ended;
    assert.equal(status, 78);
    assert.match(err, /rootsd\.yaml:2:\d+: .*CONFIG_INVALID/);
  });

  it('reads the policies again at SIGHUP and on "reload", which says what is wrong', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(ALLOW_A);
    const daemon = await home.serve();
    daemon.process.kill('SIGHUP');
    await daemon.logged('reload requested');
    assert.equal(await effect(home), 'allow');
    const path = home.policy('rules: [');
    const { status, out } = await home.run('reload');
    assert.equal(status, 1);
    assert.ok(out.includes(`${path}:2:`), out);
  });
});

describe('rootsd.yaml of a running daemon', () => {
  it('changes nothing when it breaks, is said, and is read again when it is mended', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(ALLOW_A);
    const daemon = await home.serve();
    const path = join(home.home, '.config/rootsd/rootsd.yaml');
    home.put(path, 'version: 1\nlog: { level: loud }\n');
    await daemon.logged('configuration rejected');
    const { state, problems } = await home.json<StatusReply>('status', '--socket', home.socket);
    assert.equal(state, 'degraded');
    assert.deepEqual(
      problems.map(({ file, line }) => [file, line]),
      [[path, 2]],
    );
    home.put(path, 'version: 1\nlimits: { sessions: 7 }\n');
    const { atNextStart } = await daemon.logged('configuration read');
    assert.deepEqual(atNextStart, ['layers', 'limits']);
    assert.equal((await home.json<StatusReply>('status', '--socket', home.socket)).state, 'ok');
  });
});

describe("policies in a directory of one's own", () => {
  it('close that directory and nothing around it', async (t) => {
    const home = new TestHome(t, [...TREE, 'dir home/policies/inside']);
    const user = join(home.home, 'policies');
    home.put(join(home.home, '.config/rootsd/rootsd.yaml'), `version: 1\nlayers: { user: ${JSON.stringify(user)} }\n`);
    const roots = 'roots: { a: { path: ~/a }, p: { path: ~/policies/inside } }';
    home.put(join(user, 'mine.yaml'), `version: 1\n${roots}\nrules: [{ id: allow-both, allow: [a, p] }]\n`);
    await home.serve();
    assert.equal(await effect(home, 'a'), 'allow');
    assert.equal(await effect(home, 'p'), 'deny');
  });
});
