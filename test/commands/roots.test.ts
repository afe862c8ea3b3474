import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ExplainedRoots } from '../../src/daemon/explain.ts';
import { TestHome } from '../support/serve.ts';

const POLICY = `roots:
  web: { path: ~/web, title: Web Site }
  docs: { path: "~/d-ö#", access: read-only }
  again: { path: ~/link }
  gone: { path: ~/gone }
  asked: { path: ~/asked }
rules:
  - { id: work, allow: [web, docs, again, gone], servers: [fs], access: read-write }
  - { id: maybe, ask: [asked], servers: [fs] }
`;
const TREE = ['dir home/web', 'dir home/d-ö#', 'dir home/asked', 'link home/link -> web'];

describe('rootsd roots', () => {
  it('lists what a server is told, each place once, and every root with its decision', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(POLICY);
    const byFiles = await home.json<ExplainedRoots>('roots', '--server', 'fs');
    assert.deepEqual(Object.keys(byFiles), ['source', 'roots', 'view', 'warnings', 'status']);
    assert.deepEqual([byFiles.status, byFiles.source], [0, 'files']);
    assert.deepEqual(byFiles.roots, [
      { uri: `file://${home.home}/web`, name: 'Web Site', access: 'read-write' },
      { uri: `file://${home.home}/d-%C3%B6%23`, name: 'docs', access: 'read-only' },
    ]);
    assert.deepEqual(byFiles.view[0], {
      root: 'web',
      effect: 'allow',
      kind: 'rule',
      access: 'read-write',
      available: true,
      why: 'rule "work" allows it',
    });
    assert.deepEqual(
      byFiles.view.map(({ root, effect, available }) => [root, effect, available]),
      [
        ['web', 'allow', true],
        ['docs', 'allow', true],
        ['again', 'allow', true],
        ['gone', 'allow', false],
        ['asked', 'ask', true],
      ],
    );
    await home.serve();
    const byDaemon = await home.json<ExplainedRoots>('roots', '--server', 'fs');
    const given = 'What running servers of this name were given beside that: "rootsd consent list"';
    assert.deepEqual(byDaemon, { ...byFiles, source: 'daemon', warnings: [given] });
    assert.deepEqual((await home.json<ExplainedRoots>('roots', '--server', 'rootsd')).warnings, []);
  });

  it('prints one root a line', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(POLICY);
    const { status, out } = await home.command('roots', '--server', 'fs');
    assert.equal(status, 0);
    assert.deepEqual(out.trimEnd().split('\n'), [
      `read-write  file://${home.home}/web          Web Site`,
      `read-only   file://${home.home}/d-%C3%B6%23  docs`,
    ]);
  });

  it('says why nothing is told', async (t) => {
    const home = new TestHome(t, TREE);
    assert.equal((await home.command('roots', '--server', 'fs')).out, 'No policy declares a root\n');
    home.policy(POLICY);
    const { status, out } = await home.command('roots', '--server', 'nobody');
    assert.equal(status, 0);
    assert.match(out, /^Nothing is allowed and available:\n {2}web +deny +no rule allows it$/m);
  });
});
