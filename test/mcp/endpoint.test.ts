// The endpoint of a real daemon, asked by clients of both eras: resources and tools.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { POLICY, served, uriOf } from '../support/endpoint-home.ts';
import { ERAS, listen, openMcpPeer } from '../support/mcp-peer.ts';

for (const era of ERAS) {
  test(`a ${era} client lists the roots as resources, with title and access`, async (t) => {
    const home = await served(t);
    const client = await openMcpPeer(t, home.socket, era);
    const { resources } = await client.result('resources/list');
    assert.deepEqual(resources, [
      {
        uri: uriOf(home, 'app'),
        name: 'app',
        title: 'The App',
        description: 'read-write',
        mimeType: 'inode/directory',
        _meta: { 'io.rootsd/access': 'read-write' },
      },
    ]);
    const { resourceTemplates } = await client.result('resources/templates/list');
    assert.deepEqual(
      resourceTemplates.map((one: { uriTemplate: string }) => one.uriTemplate),
      ['file:///{+path}'],
    );
  });

  test(`a ${era} client reads directories as lists, files as text or blob`, async (t) => {
    const home = await served(t);
    writeFileSync(join(home.home, 'app/bytes'), Buffer.from([0x66, 0xff, 0x00]));
    writeFileSync(join(home.home, 'app/nul'), 'a\0b');
    writeFileSync(join(home.home, 'app/large'), Buffer.alloc(1024 * 1024 + 1));
    const client = await openMcpPeer(t, home.socket, era);
    const read = async (path: string) =>
      (await client.result('resources/read', { uri: uriOf(home, path) })).contents[0];
    assert.equal((await read('app/a.ts')).text, 'hello');
    assert.equal((await read('app/sub/%C3%A9%20b%23%25.txt')).text, 'text');
    assert.equal((await read('app/in/%C3%A9%20b%23%25.txt')).text, 'text');
    assert.equal((await read('app/bytes')).blob, Buffer.from([0x66, 0xff, 0x00]).toString('base64'));
    assert.equal((await read('app/nul')).blob, Buffer.from('a\0b').toString('base64'));
    const listing = JSON.parse((await read('app')).text);
    const { entries } = listing as { entries: { name: string; kind: string; uri: string }[] };
    assert.deepEqual(
      entries.map(({ name, kind }) => `${kind} ${name}`),
      ['file a.ts', 'file bytes', 'directory in', 'file large', 'file nul', 'directory sub'],
    );
    const [first] = JSON.parse((await read('app/sub')).text).entries;
    assert.equal(first.uri, uriOf(home, 'app/sub/%C3%A9%20b%23%25.txt'));
    const { error } = await client.ask('resources/read', { uri: uriOf(home, 'app/large') });
    assert.match(error?.message ?? '', /has 1048577 bytes, at most 1048576 are sent/);
  });

  test(`a ${era} client cannot tell what lies outside from what is not there`, async (t) => {
    const home = await served(t);
    const client = await openMcpPeer(t, home.socket, era);
    const rows = ['other/secret', 'other', 'nothing', 'closed/x', 'app/leak', 'app/out/secret', 'app/../other/secret'];
    const more = ['app/nothing', 'app/pipe', 'app/%2e%2e/other/secret', 'app/a.ts/x'];
    for (const path of [...rows, ...more]) {
      const uri = uriOf(home, path);
      const { error } = await client.ask('resources/read', { uri });
      const message = 'Invalid params: no resource that this session may see has this URI';
      assert.deepEqual(error, { code: -32602, message, data: { uri } }, path);
    }
  });

  test(`a ${era} client is told which parameter is wrong`, async (t) => {
    const home = await served(t);
    const client = await openMcpPeer(t, home.socket, era);
    const rows: [method: string, params: object, code: number, message: RegExp][] = [
      ['resources/read', {}, -32602, /"uri" must be a string/],
      ['resources/list', { cursor: 'x' }, -32602, /cursor/],
      ['tools/list', { cursor: 'x' }, -32602, /cursor/],
      ['tools/call', { name: 'nothing' }, -32602, /no tool "nothing"/],
      ['tools/call', { name: 5 }, -32602, /name/],
      ['resources/nothing', {}, -32601, /Method not found/],
    ];
    for (const [method, params, code, message] of rows) {
      const { error } = await client.ask(method, params);
      assert.equal(error?.code, code, method);
      assert.match(error?.message ?? '', message);
    }
  });

  test(`the tools of a ${era} client say what may be used, and why`, async (t) => {
    const home = await served(t);
    const client = await openMcpPeer(t, home.socket, era);
    const at = (path: string) => `${home.home}/${path}`;
    assert.deepEqual(await client.call('list_roots'), {
      roots: [{ name: 'app', title: 'The App', uri: uriOf(home, 'app'), path: at('app'), access: 'read-write' }],
    });
    const out = 'it leads out of the roots of this session, or cannot be followed';
    const rows: [path: string, verdict: string, effect: string, why: RegExp][] = [
      [at('app/a.ts'), 'inside', 'allow', /rule "app" allows it/],
      [at('app/not-yet'), 'inside', 'allow', /rule "app" allows it/],
      [uriOf(home, 'app/in'), 'inside', 'allow', /rule "app"/],
      [at('app/leak'), 'outside', 'deny', new RegExp(`^${out}$`)],
      [at('app/a.ts/x'), 'outside', 'deny', new RegExp(`^${out}$`)],
      [at('other/secret'), 'outside', 'ask', /rule "other" wants a person's consent/],
      [at('nothing'), 'outside', 'deny', /no declared root contains it/],
      [at('closed/x'), 'outside', 'deny', /Closed for ever/],
      [at('app/../other'), 'invalid', 'deny', /"\.\."/],
      ['app', 'invalid', 'deny', /relative/],
      ['file://host/app', 'invalid', 'deny', /names another host/],
    ];
    for (const [path, verdict, effect, why] of rows) {
      const checked = await client.call('check_path', { path });
      assert.deepEqual([checked.verdict, checked.effect], [verdict, effect], path);
      assert.match(checked.why, why);
    }
    assert.equal((await client.call('request_access', { path: at('app'), access: 'read-write' })).state, 'granted');
    assert.equal((await client.call('request_access', { path: at('other'), access: 'read-write' })).state, 'denied');
    assert.equal((await client.call('request_access', { path: at('closed') })).state, 'denied');
    for (const wrong of [{}, { path: 5 }, { path: '/x', more: 1 }]) {
      assert.equal((await client.call('check_path', wrong)).isError, true);
    }
  });

  test(`a ${era} client hears that its list has changed, and of nothing else`, async (t) => {
    const home = await served(t);
    const client = await openMcpPeer(t, home.socket, era);
    await listen(client);
    home.policy(`${POLICY}  - { id: more, allow: [other] }\n`);
    assert.equal((await client.notice()).method, 'notifications/resources/list_changed');
    const { resources } = await client.result('resources/list');
    assert.equal(resources.length, 2);
    assert.deepEqual(client.peer.unread, []);
  });

  test(`a ${era} client hears that a resource has changed, and that it is gone`, async (t) => {
    const home = await served(t);
    const client = await openMcpPeer(t, home.socket, era);
    const uri = uriOf(home, 'app/a.ts');
    await listen(client, [uri]);
    // Looked at after what was subscribed to.
    await client.result('resources/read', { uri });
    writeFileSync(join(home.home, 'app/a.ts'), 'changed');
    const updated = await client.notice();
    assert.deepEqual([updated.method, updated.params.uri], ['notifications/resources/updated', uri]);
    home.policy(POLICY.replace('allow: [app]', 'ask: [app]'));
    const methods = [(await client.notice()).method, (await client.notice()).method];
    assert.deepEqual(methods.toSorted(), ['notifications/resources/list_changed', 'notifications/resources/updated']);
  });

  test(`a ${era} client has the roots of who it says it is`, async (t) => {
    const home = await served(t);
    const names = async (who: object) => {
      const client = await openMcpPeer(t, home.socket, era, who);
      const { resources } = await client.result('resources/list');
      return resources.map(({ name }: { name: string }) => name);
    };
    assert.deepEqual(await names({ server: 'special' }), ['app', 'other']);
    assert.deepEqual(await names({ host: 'special' }), ['app']);
    const { sessions } = await home.json<{ sessions: { server: string; host: string | null; era: string }[] }>(
      'sessions',
    );
    assert.deepEqual(
      sessions.map(({ server, host, era }) => [server, host, era]),
      [
        ['special', null, era],
        ['rootsd', 'special', era],
      ],
    );
  });
}
