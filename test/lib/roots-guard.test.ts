import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { RootsGuard } from '../../src/lib/roots-guard.ts';
import type { SdkServer } from '../../src/lib/sdk.ts';
import { makeTree } from '../support/tree.ts';
import { LEGACY, later, SDKS } from './connected.ts';
import { type Guarded, guarded, pathsOf, root, type Setting, TREE } from './guarded.ts';

for (const sdk of SDKS) {
  describe(`RootsGuard on SDK ${sdk}`, () => {
    it('allows what lies in the roots of the client, and nothing else', async (t) => {
      const base = makeTree(t, TREE);
      const asked = { path: '' };
      const { call } = await guarded(t, sdk, { list: [root(join(base, 'a'))] }, (guard) => guard.resolve(asked.path));
      const rows: [string, RegExp][] = [
        [`${base}/a/f`, new RegExp(`^"${base}/a/f"$`)],
        [`file://${base}/a/f`, new RegExp(`^"${base}/a/f"$`)],
        [`${base}/a/new/file`, new RegExp(`^"${base}/a/new/file"$`)],
        [`${base}/a/sub/../f`, new RegExp(`^"${base}/a/f"$`)],
        [`${base}/ab`, /^error: .*lies or leads outside/],
        [`${base}/a/../b/f`, /^error: .*lies or leads outside/],
        [`${base}/a/out/secret`, /^error: .*lies or leads outside/],
        ['a/f', /^error: .*is relative, must be absolute/],
        [`file://host${base}/a/f`, /^error: .*names another host/],
      ];
      for (const [path, expected] of rows) {
        asked.path = path;
        const text = await call();
        assert.match(text, expected, path);
        if (text.startsWith('error: ')) assert.ok(text.includes(`This server may use "${base}/a" (read-write)`), text);
      }
    });

    it('keeps the names that the client gives its roots', async (t) => {
      const base = makeTree(t, TREE);
      const list = [{ ...root(join(base, 'a')), name: 'Front end' }, root(join(base, 'b'))];
      const { call } = await guarded(t, sdk, { list }, async (guard) => (await guard.roots()).map(({ name }) => name));
      assert.equal(await call(), '["Front end","b"]');
    });

    it('lets be read only what the client marks so', async (t) => {
      const base = makeTree(t, TREE);
      const access = 'read-write';
      const told = [
        ['a', 'read-only'],
        ['b', 'read-write'],
        ['out', 'x'],
        ['a/sub', 'read-only'],
        ['a/sub', 'read-write'],
      ] as const;
      const list = told.map(([name, marked]) => root(join(base, name), marked));
      const asked = { path: '' };
      const { call } = await guarded(t, sdk, { list }, (guard) => guard.resolve(asked.path, { access }));
      for (const [path, expected] of [
        ['a/f', /^error: Cannot write to ".*a\/f": it may only be read/],
        ['b/f', /^".*\/b\/f"$/],
        ['out/secret', /^error: .*may only be read/],
        ['a/sub/x', /^error: .*may only be read/],
        ['b/.rootsd.yaml', /^error: .*may only be read/],
      ] as const) {
        asked.path = join(base, path);
        assert.match(await call(), expected, path);
      }
    });

    // Each is a way in which a server could come to believe that everything is allowed.
    for (const [name, list] of [
      ['an empty list', []],
      [
        'a list without a usable entry',
        [{ uri: 'https://example.org/' }, { uri: 'relative' }, { uri: 'file:///nowhere' }],
      ],
      ['a directory that stands for an empty list', [root('/', 'none')]],
      ['a client without roots', null],
    ] as const) {
      it(`allows nothing by ${name}`, async (t) => {
        const base = makeTree(t, TREE);
        const { call } = await guarded(t, sdk, { list }, (guard) => guard.resolve(`${base}/a/f`));
        assert.match(await call(), /^error: .*This server may use no directory now/);
      });
    }

    it('leaves out what is no root, says so, and keeps the rest', async (t) => {
      const base = makeTree(t, TREE);
      const list = [
        { uri: 'vscode://a/' },
        root(join(base, 'none')),
        root(join(base, 'a')),
        root(join(base, 'b/../a')),
      ];
      const { call, warnings } = await guarded(t, sdk, { list }, pathsOf);
      assert.equal(await call(), JSON.stringify([join(base, 'a')]));
      assert.match(warnings[0] ?? '', /"vscode:\/\/a\/", which is left out: it does not begin with "file:\/\/"/);
      assert.match(warnings[1] ?? '', /none", which is left out: it does not exist/);
    });

    it('keeps within its own directories whatever the client lists, and to them where it has no roots', async (t) => {
      const base = makeTree(t, TREE);
      const directories = [join(base, 'a')];
      const wide = await guarded(t, sdk, { list: [root(base)], directories }, pathsOf);
      assert.equal(await wide.call(), JSON.stringify(directories));
      const narrow = await guarded(
        t,
        sdk,
        { list: [root(join(base, 'a/sub')), root(join(base, 'b'))], directories },
        pathsOf,
      );
      assert.equal(await narrow.call(), JSON.stringify([join(base, 'a/sub')]));
      const empty = await guarded(t, sdk, { list: [], directories }, pathsOf);
      assert.equal(await empty.call(), '[]');
      const none = await guarded(t, sdk, { list: null, directories }, pathsOf);
      assert.equal(await none.call(), JSON.stringify(directories));
    });

    it('uses the list that holds once the client has told of a change', async (t) => {
      const base = makeTree(t, TREE);
      const setting: Setting = { list: [root(join(base, 'a'))] };
      const { call, changed, guard } = await guarded(t, sdk, setting, pathsOf);
      assert.equal(await call(), JSON.stringify([join(base, 'a')]));
      setting.list = [root(join(base, 'b'))];
      if (sdk !== '2.x, modern') await Promise.all([changed(), once(guard, 'change')]);
      assert.equal(await call(), JSON.stringify([join(base, 'b')]));
    });

    it('offers names in the roots for a path that is being typed, never those that lead out', async (t) => {
      const base = makeTree(t, [...TREE, 'link a/in -> sub', 'file a/sub/x', 'link a/gone -> nowhere', 'file a/h#1']);
      const asked = { typed: '' };
      const { call } = await guarded(t, sdk, { list: [root(join(base, 'a'))] }, (guard) => guard.complete(asked.typed));
      const rows: [string, string[]][] = [
        ['', [`${base}/a/`]],
        [base, [`${base}/a/`]],
        [`${base}/a/`, [`${base}/a/f`, `${base}/a/h#1`, `${base}/a/in/`, `${base}/a/sub/`]],
        [`${base}/a/s`, [`${base}/a/sub/`]],
        [`${base}/a/in/`, [`${base}/a/in/x`]],
        [`${base}/b`, []],
        [`${base}/out/s`, []],
        [`${base}/a/out/`, []],
        [`${base}/a/../b/`, []],
        [`file://${base}/a/h`, [`file://${base}/a/h%231`]],
      ];
      for (const [typed, expected] of rows) {
        asked.typed = typed;
        assert.deepEqual(JSON.parse(await call()), expected, typed);
      }
    });
  });
}

for (const sdk of LEGACY) {
  describe(`RootsGuard asks a client of SDK ${sdk}`, () => {
    it('after it is initialized, and keeps the answer', async (t) => {
      const base = makeTree(t, TREE);
      const { guard, call, asked } = await guarded(t, sdk, { list: [root(base)] }, pathsOf);
      if (asked() === 0) await once(guard, 'change');
      await call();
      await call();
      assert.equal(asked(), 1);
    });

    it('once for all who want to know at the same time', async (t) => {
      const base = makeTree(t, TREE);
      const setting: Setting = { list: [root(base)] };
      const together = async (guard: RootsGuard) =>
        Promise.all([guard.roots(), guard.resolve(base), guard.complete(base)]);
      const { call, changed, asked } = await guarded(t, sdk, setting, together);
      await call();
      const before = asked();
      const answer = later<object>();
      setting.list = () => answer.promise;
      await changed();
      const calls = [call(), call()];
      answer.resolve({ roots: [root(base)] });
      await Promise.all(calls);
      assert.equal(asked(), before + 1);
    });

    it('again where the list changed while it was answered', async (t) => {
      const base = makeTree(t, TREE);
      const slow = later<object>();
      const wasAsked = later<void>();
      const setting: Setting = { list: [root(join(base, 'a'))] };
      const { call, changed } = await guarded(t, sdk, setting, pathsOf);
      await call();
      setting.list = () => {
        wasAsked.resolve(undefined);
        return slow.promise;
      };
      await changed();
      await wasAsked.promise;
      setting.list = [root(join(base, 'b'))];
      await changed();
      slow.resolve({ roots: [root(join(base, 'a'))] });
      assert.equal(await call(), JSON.stringify([join(base, 'b')]));
    });

    it('no more than ten times where it tells of a change each time before it answers', async (t) => {
      const base = makeTree(t, TREE);
      const held: { server?: Guarded } = {};
      const setting: Setting = { list: [root(base)] };
      const server = await guarded(t, sdk, setting, pathsOf);
      held.server = server;
      await server.call();
      const before = server.asked();
      setting.list = async () => {
        await held.server?.changed();
        return { roots: [root(base)] };
      };
      await server.changed();
      assert.match(await server.call(), /^error: .*told of another list each time/);
      setting.list = [root(base)];
      assert.equal(await server.call(), JSON.stringify([base]));
      assert.ok(server.asked() - before <= 21);
    });

    it('and allows nothing while it gives an error, silence or no list, whatever it told before', async (t) => {
      const base = makeTree(t, TREE);
      const setting: Setting = { list: [root(base)], deadlineMs: 50 };
      const { call, changed, warnings } = await guarded(t, sdk, setting, (guard) => guard.resolve(`${base}/a/f`));
      assert.equal(await call(), JSON.stringify(`${base}/a/f`));
      for (const fault of [
        () => {
          throw new Error('out of order');
        },
        () => new Promise(() => undefined),
        () => ({ roots: 'all' }),
      ]) {
        setting.list = fault;
        await changed();
        assert.match(await call(), /^error: Cannot tell which directories may be used: /);
      }
      assert.ok(warnings.length > 0);
      setting.list = [root(base)];
      assert.equal(await call(), JSON.stringify(`${base}/a/f`), 'an error is not kept');
    });
  });
}

describe('RootsGuard', () => {
  it('refuses own directories that are not there', (t) => {
    const base = makeTree(t, TREE);
    const server = { getClientCapabilities: () => undefined, request: async () => ({}) };
    const sdk = { ...server, setRequestHandler: () => undefined, setNotificationHandler: () => undefined };
    assert.throws(() => new RootsGuard(sdk, { directories: [join(base, 'none')] }), { code: 'PATH_INVALID' });
  });

  it('asks nobody who offers no roots, and nobody who is not initialized', async () => {
    const held: { capabilities?: object } = {};
    const sdk = {
      getClientCapabilities: () => held.capabilities,
      request: () => assert.fail('asked'),
      setRequestHandler: () => undefined,
      setNotificationHandler: () => undefined,
    };
    const guard = new RootsGuard(sdk);
    await assert.rejects(guard.roots(), { code: 'LIST_UNKNOWN', message: /no client is initialized/ });
    held.capabilities = { sampling: {} };
    assert.deepEqual(await guard.roots(), []);
  });

  it('leaves to the server what it does once it is initialized', () => {
    let count = 0;
    const sdk: SdkServer = {
      getClientCapabilities: () => undefined,
      request: () => assert.fail('asked'),
      setRequestHandler: () => undefined,
      setNotificationHandler: () => undefined,
      oninitialized: () => {
        count += 1;
      },
    };
    new RootsGuard(sdk);
    sdk.oninitialized?.();
    assert.equal(count, 1);
  });

  it('does not believe the list of one client for the next', async (t) => {
    const base = makeTree(t, TREE);
    const clients = [{ roots: {} }, { roots: {} }];
    const lists = [[root(join(base, 'a'))], [root(join(base, 'b'))]];
    const sdk = {
      getClientCapabilities: () => clients[0],
      request: async () => ({ roots: lists[0] }),
      setRequestHandler: () => undefined,
      setNotificationHandler: () => undefined,
    };
    const guard = new RootsGuard(sdk);
    assert.deepEqual(await pathsOf(guard), [join(base, 'a')]);
    clients.shift();
    lists.shift();
    assert.deepEqual(await pathsOf(guard), [join(base, 'b')]);
  });

  it('follows what lies on the disk now, not when the list was told', async (t) => {
    const base = makeTree(t, TREE);
    const { call } = await guarded(t, '1.x', { list: [root(join(base, 'a'))] }, (guard) =>
      guard.resolve(`${base}/a/sub/x`),
    );
    assert.equal(await call(), JSON.stringify(`${base}/a/sub/x`));
    rmSync(`${base}/a`, { recursive: true });
    symlinkSync('out', `${base}/a`);
    mkdirSync(`${base}/out/sub`);
    writeFileSync(`${base}/out/sub/x`, '');
    assert.match(await call(), /^error: .*lies or leads outside/);
  });
});
