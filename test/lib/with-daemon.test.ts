// `rootsd/host` and a real daemon, with the commands that a person uses beside it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it, type TestContext } from 'node:test';
import { LiveRoots } from '../../src/lib/live-roots.ts';
import { RootsGuard } from '../../src/lib/roots-guard.ts';
import { TestHome } from '../support/serve.ts';
import { type Connected, connected, SDKS, type Sdk } from './connected.ts';

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

/** A server behind roots of a daemon, whose tool names its roots. */
async function connectedTo(t: TestContext, roots: LiveRoots, sdk: Sdk): Promise<Connected> {
  t.after(() => roots.close());
  return connected(t, sdk, {
    list: null,
    install: (client) => roots.install(client),
    setUp: (server) => {
      const guard = new RootsGuard(server);
      return guard.handler(async (_args: never, _context: unknown) => (await guard.roots()).map(({ name }) => name));
    },
  });
}

describe('LiveRoots with a daemon', () => {
  for (const sdk of SDKS) {
    it(`keeps its list while the daemon is gone, and has what holds when it is back (SDK ${sdk})`, async (t) => {
      const home = new TestHome(t, ['dir home/a', 'dir home/b']);
      const policy = (name: string) =>
        home.policy(
          `roots: { a: { path: ~/a }, b: { path: ~/b } }\nrules: [{ id: r, allow: [${name}], servers: [files] }]`,
        );
      policy('a');
      const first = await home.serve();
      const roots = await LiveRoots.open({ server: 'files', socket: home.socket });
      const { call } = await connectedTo(t, roots, sdk);
      assert.equal(await call(), '["a"]');
      await first.kill('SIGKILL');
      policy('b');
      assert.equal(await call(), '["a"]');
      assert.deepEqual(
        roots.roots.map(({ name }) => name),
        ['a'],
      );
      const change = once(roots, 'change');
      await home.serve();
      await change;
      assert.equal(roots.connected, true);
      // A legacy server hears of it, and then asks.
      for (let told = ''; told !== '["b"]'; ) told = await call();
    });

    it(`has a person asked once its server has listed, and the answer reaches the server (SDK ${sdk})`, async (t) => {
      const home = new TestHome(t, ['dir home/a', 'dir home/b']);
      const policy = (...rules: readonly string[]) =>
        home.policy(`roots: { a: { path: ~/a }, b: { path: ~/b } }\nrules: [${rules.join(', ')}]`);
      policy(ALLOWED, ASKED);
      await home.serve();
      const roots = await LiveRoots.open({ server: 'files', host: 'editor', socket: home.socket });
      const { call } = await connectedTo(t, roots, sdk);
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
