import assert from 'node:assert/strict';
import { lstatSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { TestHome } from '../support/serve.ts';

const POLICY = 'roots: { a: { path: ~/a } }\nrules: [{ id: r, allow: [a] }]';

describe('the daemon whose socket files are cleaned away', () => {
  it('makes them again, and the sessions that are open stay', async (t) => {
    const home = new TestHome(t, ['dir home/a']);
    home.policy(POLICY);
    const daemon = await home.serve();
    const peer = await home.peer('s');
    rmSync(dirname(home.socket), { recursive: true });
    await daemon.logged('socket listening', 4);
    assert.equal((await home.run('status')).status, 0);
    const { result } = await peer.request('roots/list');
    assert.equal((result as { roots: unknown[] }).roots.length, 1);
    await home.peer('t');
  });

  it('ends where it cannot: exit 75', async (t) => {
    const home = new TestHome(t);
    const daemon = await home.serve();
    rmSync(home.socket);
    mkdirSync(home.socket);
    writeFileSync(`${home.socket}/file`, '');
    const { status } = await daemon.ended;
    assert.equal(status, 75);
    assert.equal(daemon.count('socket lost'), 1);
  });
});

/** Something that listens there. */
async function listenAt(t: TestContext, path: string): Promise<void> {
  const server = createServer();
  t.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(path, resolve));
}

/** What stands in its place, and the code of the error. */
const REPLACED: readonly (readonly [
  what: string,
  code: string,
  put: (t: TestContext, path: string) => void | Promise<void>,
])[] = [
  ['a file', 'SOCKET_UNSAFE', (_, path) => writeFileSync(path, 'mine')],
  ['a link to nowhere', 'SOCKET_UNSAFE', (_, path) => symlinkSync('/nowhere', path)],
  [
    'a link to a live socket',
    'SOCKET_UNSAFE',
    async (t, path) => {
      await listenAt(t, `${path}.other`);
      symlinkSync(`${path}.other`, path);
    },
  ],
  ['a live socket', 'SOCKET_IN_USE', listenAt],
];

describe('the daemon whose socket has been replaced', { concurrency: true }, () => {
  for (const [what, code, put] of REPLACED) {
    it(`by ${what} ends with 75, says so and leaves that alone, and serves again when it is gone`, async (t) => {
      const home = new TestHome(t, ['dir home/a']);
      home.policy(POLICY);
      const daemon = await home.serve();
      const peer = await home.peer('s');
      renameSync(home.socket, `${home.socket}.moved`);
      await put(t, home.socket);
      const { ino } = lstatSync(home.socket);
      assert.equal((await daemon.ended).status, 75);
      const { error } = await daemon.logged('socket lost');
      assert.equal((error as { code: string }).code, code);
      await peer.ended;
      assert.equal(lstatSync(home.socket).ino, ino);
      const refused = await home.run('status');
      assert.equal(refused.status, 69, refused.err);
      rmSync(home.socket);
      await home.serve();
      await home.peer('s');
    });
  }
});
