import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { TestHome } from '../support/serve.ts';

describe('a command beside a daemon of another home', () => {
  it('says that the daemon reads its policies elsewhere, and nothing where it does not', async (t) => {
    const home = new TestHome(t, ['dir home/a', 'dir other']);
    home.policy('roots: { a: { path: ~/a } }');
    await home.serve();
    assert.equal((await home.run('check')).err, '');
    const { status, err } = await home.runWith({ env: { HOME: join(home.base, 'other') } }, 'check');
    assert.equal(status, 0);
    assert.ok(err.includes(`the running daemon reads its user policies from "${home.directory('user')}"`), err);
    assert.match(err, /see HOME and XDG_CONFIG_HOME/);
  });
});
