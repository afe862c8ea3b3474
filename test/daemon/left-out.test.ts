import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { TestHome } from '../support/serve.ts';

test('a directory whose name cannot be a root’s is said under a name that is true', async (t) => {
  const home = new TestHome(t, ['dir home/pat']);
  mkdirSync(join(home.home, 'pat/a\nb'));
  home.policy('roots: { p: { path: "~/pat/*" } }\nrules: [{ id: r, allow: ["p/*"] }]\n');
  const daemon = await home.serve();
  const { error } = await daemon.logged('place left out of what is looked at');
  assert.equal((error as { readonly code: string }).code, 'ROOT_MEMBER_NAME');
  assert.equal(daemon.count('watching falls back to the sweep'), 0);
});
