import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { ExplainedRoots } from '../../src/daemon/explain.ts';
import { TestHome } from '../support/serve.ts';

interface Revoked {
  readonly written: boolean;
  readonly path: string;
  readonly removed: readonly string[];
  readonly still: readonly string[];
}

const TREE = ['dir home/web/sub', 'dir home/src/one', 'dir home/src/two'];

function localText(home: TestHome): string {
  return readFileSync(join(home.directory('user'), 'local.yaml'), 'utf8');
}

async function openHome(...given: Parameters<typeof makeHome>): Promise<TestHome> {
  return makeHome(...given);
}

async function makeHome(
  t: ConstructorParameters<typeof TestHome>[0],
  allowances: readonly (readonly [path: string, server: string])[],
): Promise<TestHome> {
  const home = new TestHome(t, TREE);
  for (const [path, server] of allowances) {
    assert.equal((await home.command('allow', path, '--server', server)).status, 0);
  }
  return home;
}

describe('rootsd revoke', () => {
  it('takes back what "allow" gave, from every server', async (t) => {
    const home = await openHome(t, [
      ['~/web', 'one'],
      ['~/web', 'two'],
    ]);
    const { status, ...answer } = await home.json<Revoked>('revoke', '~/web');
    assert.equal(status, 0);
    const path = join(home.home, 'web');
    assert.deepEqual(answer, { written: true, path, removed: ['allow-one-web', 'allow-two-web'], still: [] });
    assert.doesNotMatch(localText(home), /web/);
    assert.equal((await home.command('explain', path, '--server', 'one')).status, 1);
  });

  it('takes it from one server alone with --server', async (t) => {
    const home = await openHome(t, [
      ['~/web', 'one'],
      ['~/web', 'two'],
    ]);
    const { status, out } = await home.command('revoke', '~/web', '--server', 'one');
    assert.deepEqual([status, out], [0, `Removed allow-one-web from ${home.directory('user')}/local.yaml\n`]);
    assert.equal((await home.command('explain', 'web', '--server', 'one')).status, 1);
    assert.equal((await home.command('explain', 'web', '--server', 'two')).status, 0);
  });

  it('reaches a running daemon and its peers', async (t) => {
    const home = await openHome(t, [['~/web', 's']]);
    await home.serve();
    const peer = await home.peer('s', { watch: true });
    await home.command('revoke', '~/web');
    assert.deepEqual((await peer.next()).params.roots, []);
  });

  it('takes back a directory that is gone', async (t) => {
    const home = await openHome(t, [['~/web', 's']]);
    home.remove(join(home.home, 'web'));
    assert.equal((await home.command('revoke', '~/web')).status, 0);
    assert.doesNotMatch(localText(home), /web/);
  });

  it('says which other rule still allows the place, or one around it: 1', async (t) => {
    const home = await openHome(t, [
      ['~/web/sub', 's'],
      ['~/src/one', 's'],
    ]);
    const file = home.policy(`roots: { around: { path: ~/web }, projects: { path: ~/src/* } }
rules:
  - { id: by-hand, allow: [around] }
  - { id: another-member, allow: [projects/two] }
  - { id: for-others, allow: [projects/one], servers: [other] }
`);
    const sub = await home.json<Revoked>('revoke', '~/web/sub');
    assert.deepEqual([sub.status, sub.removed, sub.still], [1, ['allow-s-sub'], [`"by-hand" (${file}:4)`]]);
    const one = await home.command('revoke', '~/src/one', '--server', 's');
    assert.deepEqual([one.status, one.out.split('\n').length], [0, 2], one.out);
  });

  it('has nothing to take back of what a person has written, and says so: 1', async (t) => {
    const home = await openHome(t, []);
    const file = home.policy('roots: { web: { path: ~/web } }\nrules: [{ id: by-hand, allow: [web] }]');
    const before = readFileSync(file, 'utf8');
    const { status, out } = await home.command('revoke', '~/web');
    assert.equal(status, 1);
    const nothing = `"rootsd allow" has given nobody ${home.home}/web: there is nothing to take back`;
    assert.equal(out, `${nothing}\nRule "by-hand" (${file}:3) may still allow it: see "rootsd explain"\n`);
    assert.equal(readFileSync(file, 'utf8'), before);
    const { written, removed } = await home.json<Revoked>('revoke', '~/web');
    assert.deepEqual([written, removed], [false, []]);
  });

  it('leaves a root that another file uses', async (t) => {
    const home = await openHome(t, [['~/web', 's']]);
    home.policy('rules: [{ id: by-hand, allow: [web], servers: [other] }]', 'user', 'z.yaml');
    const { removed } = await home.json<Revoked>('revoke', '~/web', '--server', 's');
    assert.deepEqual(removed, ['allow-s-web']);
    const { roots } = await home.json<ExplainedRoots>('roots', '--server', 'other');
    assert.equal(roots.length, 1);
    assert.equal((await home.command('check')).status, 0);
  });

  it('takes back nothing while the policies are broken: 1', async (t) => {
    const home = await openHome(t, [['~/web', 's']]);
    const before = localText(home);
    home.policy('rulse: []');
    assert.equal((await home.command('revoke', '~/web')).status, 1);
    assert.equal(localText(home), before);
  });
});
