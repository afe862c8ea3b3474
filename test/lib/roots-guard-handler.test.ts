// RootsGuard.handler(): how a server comes to its roots in revision 2026-07-28, where it asks in its answers.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { RootsGuard } from '../../src/lib/roots-guard.ts';
import type { SdkClient } from '../../src/lib/sdk.ts';
import { MODERN_META } from '../support/mcp-peer.ts';
import { makeTree } from '../support/tree.ts';
import { connected, later, SDKS } from './connected.ts';
import { guarded, pathsOf, root, TREE } from './guarded.ts';

describe('RootsGuard.handler() on revision 2026-07-28', () => {
  const sdk = '2.x, modern';

  it('asks in each call, since nobody tells of a change', async (t) => {
    const base = makeTree(t, TREE);
    const { call, asked } = await guarded(t, sdk, { list: [root(base)] }, pathsOf);
    await call();
    await call();
    assert.equal(asked(), 2);
  });

  it('keeps two calls at once apart', async (t) => {
    const base = makeTree(t, TREE);
    const lists = [root(join(base, 'a')), root(join(base, 'b'))];
    const both = later<void>();
    let running = 0;
    const { call } = await guarded(t, sdk, { list: () => ({ roots: [lists.shift()] }) }, async (guard) => {
      running += 1;
      if (running === 2) both.resolve(undefined);
      await both.promise;
      return pathsOf(guard);
    });
    const told = await Promise.all([call(), call()]);
    assert.deepEqual(told.sort(), [JSON.stringify([join(base, 'a')]), JSON.stringify([join(base, 'b')])]);
  });

  it('leaves a handler that is not wrapped without roots, and says why', async (t) => {
    const base = makeTree(t, TREE);
    const { call } = await connected(t, sdk, {
      list: () => ({ roots: [root(base)] }),
      setUp: (server) => {
        const guard = new RootsGuard(server);
        return () => guard.resolve(base);
      },
    });
    assert.match(await call(), /^error: .*is not wrapped by handler\(\)/);
  });

  it('asks again beside what the handler asks the client for itself', async (t) => {
    const base = makeTree(t, TREE);
    let rounds = 0;
    const { call } = await guarded(t, sdk, { list: [root(base)] }, async (guard) => {
      rounds += 1;
      if (rounds === 1) return { resultType: 'input_required', inputRequests: { own: { method: 'roots/list' } } };
      return pathsOf(guard);
    });
    assert.equal(await call(), JSON.stringify([base]));
    assert.equal(rounds, 2);
  });
});

for (const sdk of SDKS) {
  it(`RootsGuard.handler() wraps handlers of resources and prompts on SDK ${sdk}`, async (t) => {
    const base = makeTree(t, TREE);
    const held: { client?: SdkClient } = {};
    await connected(t, sdk, {
      list: () => ({ roots: [root(base)] }),
      install: (client) => {
        held.client = client;
      },
      setUp: (mcp) => {
        const guard = new RootsGuard(mcp);
        const { registerResource, registerPrompt } = mcp as unknown as Record<string, (...args: unknown[]) => void>;
        const read = async (uri: URL, _context: unknown) => ({
          contents: [{ uri: uri.href, text: String(await pathsOf(guard)) }],
        });
        const get = async (_context: unknown) => ({
          messages: [{ role: 'user', content: { type: 'text', text: String(await pathsOf(guard)) } }],
        });
        registerResource?.call(mcp, 'r', 'test://r', {}, guard.handler(read));
        registerPrompt?.call(mcp, 'p', {}, guard.handler(get));
        return async () => null;
      },
    });
    const { readResource, getPrompt } = held.client as unknown as Record<string, (params: object) => Promise<object>>;
    assert.ok(JSON.stringify(await readResource?.call(held.client, { uri: 'test://r' })).includes(`"text":"${base}"`));
    assert.ok(JSON.stringify(await getPrompt?.call(held.client, { name: 'p' })).includes(`"text":"${base}"`));
  });
}

/** Calls the one tool of a server on RootsGuard, with what its client answers to questions of an earlier round. */
async function callWith(t: TestContext, inputResponses: unknown, capabilities: object = { roots: {} }) {
  const handler = createMcpHandler(() => {
    const mcp = new McpServer({ name: 'test', version: '1' });
    const guard = new RootsGuard(mcp);
    const run = async (_context: unknown) => ({
      content: [{ type: 'text' as const, text: JSON.stringify(await pathsOf(guard)) }],
    });
    mcp.registerTool('tool', {}, guard.handler(run));
    return mcp;
  });
  t.after(() => handler.close());
  const _meta = { ...MODERN_META, 'io.modelcontextprotocol/clientCapabilities': capabilities };
  const params = { name: 'tool', _meta, ...(inputResponses === undefined ? {} : { inputResponses }) };
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'tool',
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const response = await handler.fetch(new Request('http://localhost/mcp', { method: 'POST', headers, body }));
  const { result } = (await response.json()) as { readonly result: Readonly<Record<string, unknown>> };
  return result;
}

describe('RootsGuard.handler() and what a client of revision 2026-07-28 answers', () => {
  const key = 'io.rootsd/roots';
  const question = { [key]: { method: 'roots/list' } };

  it('asks where nothing is answered, or something else', async (t) => {
    for (const answers of [undefined, {}, { other: { roots: [] } }, { other: 5 }]) {
      const { resultType, inputRequests } = await callWith(t, answers);
      assert.deepEqual([resultType, inputRequests], ['input_required', question], JSON.stringify(answers));
    }
  });

  it('takes its answer, whatever else comes with it', async (t) => {
    const base = makeTree(t, TREE);
    const answers = { [key]: { roots: [root(base)] }, other: { action: 'accept', content: {} } };
    const { isError, content } = await callWith(t, answers);
    assert.deepEqual([isError, content], [undefined, [{ type: 'text', text: JSON.stringify([base]) }]]);
  });

  it('refuses an answer that is no list', async (t) => {
    for (const answer of [{ action: 'accept', content: {} }, { roots: 'all' }, { roots: null }, {}]) {
      const { isError, content } = await callWith(t, { [key]: answer });
      assert.equal(isError, true, JSON.stringify(answer));
      assert.match(JSON.stringify(content), /its answer is no list/);
    }
  });

  it('asks nothing of a client that offers no roots, and believes no answer of it', async (t) => {
    const base = makeTree(t, TREE);
    for (const answers of [undefined, { [key]: { roots: [root(base)] } }]) {
      const { content } = await callWith(t, answers, { sampling: {} });
      assert.deepEqual(content, [{ type: 'text', text: '[]' }]);
    }
  });
});
