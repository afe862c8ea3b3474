// `rootsd/host` and a real daemon, with the commands that a person uses beside it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { LiveRoots } from '../../src/lib/live-roots.ts';
import { RootsGuard } from '../../src/lib/roots-guard.ts';
import { TestHome } from '../support/serve.ts';
import { connected, SDKS } from './connected.ts';

interface Consents {
  readonly pending: readonly { readonly id: string; readonly root: string; readonly server: string }[];
}

interface Sessions {
  readonly sessions: readonly {
    readonly server: string;
    readonly host: string;
    readonly askedForRoots: boolean | null;
  }[];
}

interface Reload {
  readonly sessions: { readonly acknowledged: number; readonly late: number };
}

const ALLOWED = '{ id: read, allow: [a], servers: [files], hosts: [editor] }';
const ASKED = '{ id: more, ask: [b], servers: [files] }';

describe('LiveRoots with a daemon', () => {
  for (const sdk of SDKS) {
    it(`has a person asked once its server has listed, and the answer reaches the server (SDK ${sdk})`, async (t) => {
      const home = new TestHome(t, ['dir home/a', 'dir home/b']);
      const policy = (...rules: readonly string[]) =>
        home.policy(`roots: { a: { path: ~/a }, b: { path: ~/b } }\nrules: [${rules.join(', ')}]`);
      policy(ALLOWED, ASKED);
      await home.serve();
      const roots = await LiveRoots.open({ server: 'files', host: 'editor', socket: home.socket });
      t.after(() => roots.close());
      const { call } = await connected(t, sdk, {
        list: null,
        install: (client) => roots.install(client),
        setUp: (server) => {
          const guard = new RootsGuard(server);
          return guard.handler(async (_args: never, _context: unknown) =>
            (await guard.roots()).map(({ name }) => name),
          );
        },
      });
      assert.equal(await call(), '["a"]');
      const { pending } = await home.json<Consents>('consent', 'list');
      assert.deepEqual(
        pending.map(({ root, server }) => [root, server]),
        [['b', 'files']],
      );
      const given = once(roots, 'change');
      await home.json('consent', 'approve', pending[0]?.id ?? '', '--scope', 'session');
      await given;
      assert.equal(await call(), '["a","b"]');

      const { sessions } = await home.json<Sessions>('sessions');
      assert.deepEqual(
        sessions.map(({ server, host, askedForRoots }) => [server, host, askedForRoots]),
        [['files', 'editor', true]],
      );

      policy(ASKED);
      const reload = await home.json<Reload>('reload', '--wait');
      assert.equal(reload.sessions.late, 0);
      assert.equal(await call(), '["b"]');
    });
  }
});
