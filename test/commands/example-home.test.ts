import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type ExampleHome, makeExampleHome } from '../../src/commands/example-home.ts';
import { readLayer } from '../../src/policy/read-layer.ts';
import { ANA } from '../policy/shown-problems.ts';

const POLICIES = fileURLToPath(new URL('../../policies', import.meta.url));

function openExample(t: TestContext): ExampleHome {
  const example = makeExampleHome(POLICIES, {
    PATH: '/bin',
    XDG_CONFIG_HOME: '/home/ana/.config',
    ROOTSD_SOCKET: '/s',
  });
  t.after(() => example.close());
  return example;
}

describe('makeExampleHome()', () => {
  it('makes policies that are trusted, whatever the umask', async (t) => {
    const before = process.umask(0);
    t.after(() => process.umask(before));
    const { home, policy, config } = openExample(t);
    for (const path of [policy, config]) assert.equal(statSync(path).mode & 0o777, 0o600, path);
    const trust = { uid: process.getuid?.() ?? -1, home };
    const read = await readLayer({ layer: 'user', directory: dirname(policy), expansions: ANA, trust, upper: [] });
    assert.equal(read.state, 'good');
  });

  it('leads editors to the schema from the copy too', (t) => {
    const [, schema = ''] = /\$schema=(\S+)/.exec(readFileSync(openExample(t).policy, 'utf8')) ?? [];
    assert.equal(JSON.parse(readFileSync(schema, 'utf8')).title, 'rootsd policy');
  });

  it('has an environment that names nothing of the user', (t) => {
    const { env, home } = openExample(t);
    const named = Object.entries(env).filter(([, value]) => value !== undefined);
    assert.deepEqual(Object.fromEntries(named), { PATH: '/bin', HOME: home });
  });

  it('lies in one directory, and removes it at the end', (t) => {
    const example = openExample(t);
    for (const path of [example.policy, example.config, join(example.home, '.ssh')]) {
      assert.ok(path.startsWith(`${example.home}/`) && existsSync(path), path);
    }
    example.close();
    assert.equal(existsSync(example.home), false);
  });
});
