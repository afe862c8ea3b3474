// launchd is not here: a program of that name stands in, and says how it was called.
import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startService } from '../../src/run/service-manager.ts';
import { makeTree } from '../support/tree.ts';

const PLIST = fileURLToPath(new URL('../../systemd/io.rootsd.daemon.plist', import.meta.url));
const LABEL = 'io.rootsd.daemon';

class Mac {
  readonly #base: string;

  constructor(t: TestContext, { installed, status }: { readonly installed: boolean; readonly status: number }) {
    this.#base = makeTree(t, ['dir bin', 'dir home/Library/LaunchAgents']);
    const launchctl = join(this.#base, 'bin/launchctl');
    writeFileSync(launchctl, `#!/bin/sh\necho "$@" >${this.#base}/called\nexit ${status}\n`);
    chmodSync(launchctl, 0o755);
    if (installed) copyFileSync(PLIST, join(this.#base, `home/Library/LaunchAgents/${LABEL}.plist`));
  }

  start(): Promise<boolean> {
    const account = { uid: 501, gid: 20, name: 'ana', home: join(this.#base, 'home'), shell: '/bin/zsh' };
    return startService(account, { PATH: join(this.#base, 'bin') }, 'darwin');
  }

  /** Arguments of the last call; null: there was none. */
  get called(): string | null {
    const path = join(this.#base, 'called');
    return existsSync(path) ? readFileSync(path, 'utf8').trim() : null;
  }
}

describe('startService(), on macOS', () => {
  it('starts the agent of the user where it is installed', async (t) => {
    const mac = new Mac(t, { installed: true, status: 0 });
    assert.equal(await mac.start(), true);
    assert.equal(mac.called, `kickstart gui/501/${LABEL}`);
    assert.ok(readFileSync(PLIST, 'utf8').includes(`<string>${LABEL}</string>`));
  });

  it('says no where launchd does not know it', async (t) => {
    const mac = new Mac(t, { installed: true, status: 113 });
    assert.equal(await mac.start(), false);
  });

  it('asks nobody where it is not installed', async (t) => {
    const mac = new Mac(t, { installed: false, status: 0 });
    assert.deepEqual([await mac.start(), mac.called], [false, null]);
  });
});
