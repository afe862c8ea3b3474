// A server on RootsGuard behind `rootsd run` and a real daemon. The guard of `run` is off: what is refused, the server refuses.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { ROOTSD, TestHome } from '../support/serve.ts';

const SERVER = fileURLToPath(new URL('../../examples/guarded-server.mjs', import.meta.url));

const ERAS = [
  ['up to 2025-11-25', 'legacy'],
  ['2026-07-28', { pin: '2026-07-28' }],
] as const;

for (const [revision, mode] of ERAS) {
  describe(`a server on RootsGuard behind rootsd run, revision ${revision}`, () => {
    it('keeps to the policy as it is now, with its access, and to nothing where nothing is allowed', async (t) => {
      const home = new TestHome(t, ['file home/a/f in a', 'file home/b/f in b']);
      const allow = (...rules: readonly string[]): void => {
        home.policy(`roots: { a: { path: ~/a }, b: { path: ~/b } }
servers: { files: { guard: off } }
rules: [${rules.join(', ')}]`);
      };
      allow(
        '{ id: read, allow: [a], servers: [files] }',
        '{ id: write, allow: [b], servers: [files], access: read-write }',
      );
      await home.serve();
      const client = new Client({ name: 'host', version: '1' }, { versionNegotiation: { mode } });
      const args = [ROOTSD, 'run', '--server', 'files', '--', process.execPath, SERVER];
      await client.connect(
        new StdioClientTransport({ command: process.execPath, args, env: { ...home.env }, stderr: 'ignore' }),
      );
      t.after(() => client.close());
      const call = async (name: string, path: string): Promise<string> => {
        const { content } = await client.callTool({ name, arguments: { path: join(home.home, path), text: 'new' } });
        return (content[0] as { readonly text: string }).text;
      };
      assert.equal(await call('read', 'a/f'), 'in a');
      assert.match(
        await call('write', 'a/f'),
        /^Cannot write to ".*a\/f": it may only be read\. This server may use ".*a" \(read-only\)/,
      );
      assert.equal(await call('write', 'b/f'), 'done');
      assert.match(await call('read', '.config/rootsd/rootsd.yaml'), /lies or leads outside/);

      allow('{ id: read, allow: [b], servers: [files] }');
      await home.run('reload', '--wait');
      assert.match(await call('read', 'a/f'), /lies or leads outside/);
      assert.match(await call('write', 'b/f'), /may only be read/);
      assert.equal(await call('read', 'b/f'), 'new');

      allow('{ id: none, deny: [a, b] }');
      await home.run('reload', '--wait');
      assert.match(await call('read', 'b/f'), /This server may use no directory now$/);
    });
  });
}
