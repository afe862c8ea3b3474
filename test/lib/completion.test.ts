// RootsGuard.complete() as a resource template of a real server uses it (docs/lib-server.md).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { ResourceTemplate as OldTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { ResourceTemplate } from '@modelcontextprotocol/server';
import { Completer } from '../../src/lib/completer.ts';
import { RootsGuard } from '../../src/lib/roots-guard.ts';
import type { SdkClient } from '../../src/lib/sdk.ts';
import { makeTree } from '../support/tree.ts';
import { connected, SDKS, type Sdk } from './connected.ts';

const TEMPLATE = 'file:///{+path}';

/** A server that completes its template; its tool says its roots. */
async function completing(t: TestContext, sdk: Sdk, root: string) {
  const held: { client?: SdkClient } = {};
  const setting: { list: unknown } = { list: { roots: [{ uri: `file://${root}` }] } };
  const { call } = await connected(t, sdk, {
    list: () => setting.list,
    install: (client) => {
      held.client = client;
    },
    setUp: (mcp) => {
      const guard = new RootsGuard(mcp);
      const complete = async (value: string): Promise<string[]> => {
        const uris = await guard.complete(`file:///${value}`);
        return uris.map((uri) => uri.slice('file:///'.length));
      };
      const Template = sdk === '1.x' ? OldTemplate : ResourceTemplate;
      const template = new Template(TEMPLATE, { list: undefined, complete: { path: complete } });
      const { registerResource } = mcp as unknown as {
        readonly registerResource: (...args: readonly unknown[]) => void;
      };
      registerResource.call(mcp, 'file', template, {}, async () => ({ contents: [] }));
      return guard.handler(async (_args: never, _context: unknown) => guard.roots());
    },
  });
  assert.ok(held.client);
  const completer = new Completer(held.client, { debounceMs: 0 });
  const complete = (value: string) => {
    completer.clear();
    return completer.complete({ ref: { type: 'ref/resource', uri: TEMPLATE }, argument: { name: 'path', value } });
  };
  return { call, complete, setting };
}

for (const sdk of SDKS) {
  describe(`completion by RootsGuard on SDK ${sdk}`, () => {
    it('gives whole values, encoded, in the roots alone', async (t) => {
      const base = makeTree(t, [
        'file root/a#1',
        'dir root/ab',
        'file root/z',
        'link root/aside -> ../out',
        'file out/a',
      ]);
      const { call, complete } = await completing(t, sdk, join(base, 'root'));
      await call();
      const start = join(base, 'root').slice(1);
      assert.deepEqual(await complete(`${start}/a`), {
        values: [`${start}/a%231`, `${start}/ab/`],
        total: 2,
        hasMore: false,
      });
      assert.deepEqual((await complete(join(base, 'out').slice(1)))?.values, []);
    });

    it('counts what there is beyond a hundred, and reaches each by more of its name', async (t) => {
      const base = makeTree(t, ['dir root']);
      for (let i = 0; i < 1_500; i++) writeFileSync(join(base, 'root', `f${i}`), '');
      const { call, complete } = await completing(t, sdk, join(base, 'root'));
      await call();
      const start = join(base, 'root').slice(1);
      const all = await complete(`${start}/`);
      assert.deepEqual([all?.values.length, all?.total, all?.hasMore], [100, 1_500, true]);
      assert.deepEqual((await complete(`${start}/f1499`))?.values, [`${start}/f1499`]);
    });
  });
}

describe('completion by RootsGuard on revision 2026-07-28', () => {
  it('knows nothing before a call has told its roots', async (t) => {
    const base = makeTree(t, ['file root/a']);
    const { call, complete } = await completing(t, '2.x, modern', join(base, 'root'));
    const start = join(base, 'root').slice(1);
    assert.deepEqual((await complete(`${start}/`))?.values, []);
    await call();
    assert.deepEqual((await complete(`${start}/`))?.values, [`${start}/a`]);
  });

  it('knows nothing of the last list once a call is told none', async (t) => {
    const base = makeTree(t, ['file root/a']);
    const { call, complete, setting } = await completing(t, '2.x, modern', join(base, 'root'));
    const start = join(base, 'root').slice(1);
    for (const none of [{ roots: 'all' }, { roots: [] }]) {
      setting.list = { roots: [{ uri: `file://${base}/root` }] };
      await call();
      assert.deepEqual((await complete(`${start}/`))?.values, [`${start}/a`]);
      setting.list = none;
      await call().catch(() => {});
      assert.deepEqual((await complete(`${start}/`))?.values, []);
    }
  });
});
