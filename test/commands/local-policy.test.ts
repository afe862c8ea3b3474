import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { openLocalPolicy } from '../../src/commands/local-policy.ts';
import { locateMachine } from '../../src/commands/machine.ts';
import { TestHome } from '../support/serve.ts';

it('openLocalPolicy() does not write over what somebody has saved since it was read', async (t) => {
  const home = new TestHome(t);
  const io = { ...process, env: home.env, cwd: () => home.base };
  const machine = locateMachine({}, io, 'command');
  const local = await openLocalPolicy(machine, io);
  home.put(local.path, 'version: 1\n# by hand\n');
  await assert.rejects(local.write('version: 1\n'), { code: 'POLICY_CHANGED' });
  assert.equal(readFileSync(local.path, 'utf8'), 'version: 1\n# by hand\n');
  const again = await openLocalPolicy(machine, io);
  await again.write('version: 1\n');
  assert.equal(readFileSync(local.path, 'utf8'), 'version: 1\n');
});
