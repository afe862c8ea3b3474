// The endpoint of a real daemon, asked by clients of both eras: prompts and completion.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { POLICY, served } from '../support/endpoint-home.ts';
import { ERAS, listen, openMcpPeer } from '../support/mcp-peer.ts';

for (const era of ERAS) {
  test(`a ${era} client gets the prompts of the policy, and hears when they change`, async (t) => {
    const home = await served(t);
    const prompts = `${POLICY}prompts:
  review:
    description: Review
    arguments:
      language: { required: true, description: The language, values: [python, { value: cobol, visible-to: { servers: [x] } }] }
      project: { roots: true }
      file: { paths: files, within: project, glob: "*.ts" }
    template: "Review {language}{file}"
  hidden: { template: x, visible-to: { servers: [x] } }
`;
    const client = await openMcpPeer(t, home.socket, era);
    await listen(client);
    assert.deepEqual((await client.result('prompts/list')).prompts, []);
    home.policy(prompts);
    assert.equal((await client.notice()).method, 'notifications/prompts/list_changed');
    const listed = await client.result('prompts/list');
    assert.deepEqual(listed.prompts, [
      {
        name: 'review',
        description: 'Review',
        arguments: [
          { name: 'language', description: 'The language', required: true },
          { name: 'project', required: false },
          { name: 'file', required: false },
        ],
      },
    ]);
    const get = (args: object) => client.ask('prompts/get', { name: 'review', arguments: args });
    const file = `${home.home}/app/a.ts`;
    const { result } = await get({ language: 'python', project: 'app', file });
    assert.deepEqual(result.messages, [{ role: 'user', content: { type: 'text', text: `Review python${file}` } }]);
    assert.equal((await get({ language: 'python' })).result.messages[0].content.text, 'Review python');
    const wrong: [args: object, what: RegExp][] = [
      [{}, /needs the argument "language"/],
      [{ language: 'cobol' }, /"cobol" is no value/],
      [{ language: 'python', project: 'other' }, /"other" is no value/],
      [{ language: 'python', file: `${home.home}/other/secret` }, /is no value/],
      [{ language: 'python', file: `${home.home}/app/leak` }, /is no value/],
      [{ language: 'python', file: `${home.home}/app/sub` }, /is no value/],
      [{ language: 'python', file: `${home.home}/app/sub/é b#%.txt` }, /is no value/],
      [{ language: 'python', more: 'x' }, /no argument "more"/],
    ];
    for (const [args, what] of wrong) {
      const { error } = await get(args);
      assert.equal(error?.code, -32602);
      assert.match(error?.message ?? '', what);
    }
    assert.equal((await client.ask('prompts/get', { name: 'hidden' })).error?.code, -32602);
  });

  test(`a ${era} client gets completions of paths`, async (t) => {
    const home = await served(t);
    const client = await openMcpPeer(t, home.socket, era);
    const root = `${home.home.slice(1)}/app/`;
    const params = {
      ref: { type: 'ref/resource', uri: 'file:///{+path}' },
      argument: { name: 'path', value: root },
    };
    const { completion, resultType } = await client.result('completion/complete', params);
    assert.deepEqual(completion, { values: [`${root}in/`, `${root}sub/`, `${root}a.ts`], total: 3, hasMore: false });
    assert.equal(resultType, era === 'modern' ? 'complete' : undefined);
  });
}
