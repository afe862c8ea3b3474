import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  configCandidates,
  findConfig,
  homeDirectory,
  policyDirectories,
  runtimeDirectory,
  type Surroundings,
  stateDirectory,
} from '../../src/core/directories.ts';

type Kind = Surroundings['kind'];

function surroundings(kind: Kind, env: Record<string, string> = {}, existing: readonly string[] = []): Surroundings {
  return { kind, env, uid: 1000, home: '/home/ana', exists: (path) => existing.includes(path) };
}

const ENV = {
  HOME: '/h',
  XDG_CONFIG_HOME: '/c',
  XDG_STATE_HOME: '/s',
  XDG_RUNTIME_DIR: '/r',
  CONFIGURATION_DIRECTORY: '/sc:/other',
  STATE_DIRECTORY: '/ss:/other',
  RUNTIME_DIRECTORY: '/sr:/other',
};
const ALL = ['/r', '/run/user/1000'];

test('directories are found by variables that this kind of program honours', () => {
  // kind | home | state | runtime | configuration candidates
  const rows: [Kind, string, string, string, string[]][] = [
    ['serve', '/h', '/ss', '/sr', ['/sc/rootsd.yaml', '/c/rootsd/rootsd.yaml', '/etc/rootsd/rootsd.yaml']],
    ['command', '/h', '/s/rootsd', '/r/rootsd', ['/c/rootsd/rootsd.yaml', '/etc/rootsd/rootsd.yaml']],
    [
      'run',
      '/home/ana',
      '/home/ana/.local/state/rootsd',
      '/run/user/1000/rootsd',
      ['/home/ana/.config/rootsd/rootsd.yaml', '/etc/rootsd/rootsd.yaml'],
    ],
  ];
  for (const [kind, home, state, runtime, candidates] of rows) {
    const from = surroundings(kind, ENV, ALL);
    assert.equal(homeDirectory(from), home, kind);
    assert.equal(stateDirectory(from), state, kind);
    assert.equal(runtimeDirectory(from), runtime, kind);
    assert.deepEqual(configCandidates(from), candidates, kind);
  }
});

test('directories are those of the user database where the environment says nothing', () => {
  for (const kind of ['serve', 'command', 'run'] as const) {
    const from = surroundings(kind);
    assert.equal(homeDirectory(from), '/home/ana');
    assert.equal(stateDirectory(from), '/home/ana/.local/state/rootsd');
    assert.deepEqual(policyDirectories(from), {
      system: '/etc/rootsd/policies.d',
      user: '/home/ana/.config/rootsd/policies.d',
    });
  }
});

test('directories that are not absolute are as if not set', () => {
  const env = { HOME: 'h', XDG_CONFIG_HOME: 'c', XDG_STATE_HOME: '', XDG_RUNTIME_DIR: 'r', STATE_DIRECTORY: 's' };
  const from = surroundings('serve', env, ['r']);
  assert.equal(homeDirectory(from), '/home/ana');
  assert.equal(stateDirectory(from), '/home/ana/.local/state/rootsd');
  assert.equal(policyDirectories(from).user, '/home/ana/.config/rootsd/policies.d');
  assert.equal(runtimeDirectory(from), '/home/ana/.local/state/rootsd/run');
});

test('policyDirectories() honours XDG_CONFIG_HOME except for run', () => {
  assert.equal(policyDirectories(surroundings('command', ENV)).user, '/c/rootsd/policies.d');
  assert.equal(policyDirectories(surroundings('run', ENV)).user, '/home/ana/.config/rootsd/policies.d');
});

test('runtimeDirectory() is found from the uid, else lies below the state', () => {
  // existing | expected
  const rows: [string[], string][] = [
    [['/r', '/run/user/1000'], '/r/rootsd'],
    [['/run/user/1000'], '/run/user/1000/rootsd'],
    [['/r'], '/r/rootsd'],
    [[], '/home/ana/.local/state/rootsd/run'],
  ];
  for (const [existing, expected] of rows) {
    assert.equal(runtimeDirectory(surroundings('serve', { XDG_RUNTIME_DIR: '/r' }, existing)), expected);
  }
});

test('the default socket paths have at most 90 bytes for a user name of 32 characters, whatever TMPDIR is', () => {
  for (const homes of ['/home', '/Users', '/var/home']) {
    const home = `${homes}/${'u'.repeat(32)}`;
    const from: Surroundings = {
      kind: 'serve',
      env: { TMPDIR: `/${'t'.repeat(100)}` },
      uid: 4294967294,
      home,
      exists: () => false,
    };
    assert.ok(Buffer.byteLength(`${runtimeDirectory(from)}/control.sock`) <= 90);
    assert.ok(Buffer.byteLength(`${runtimeDirectory({ ...from, exists: () => true })}/control.sock`) <= 90);
  }
});

test('findConfig() takes the option, the variable, the first that exists, or nothing', () => {
  const env = { ...ENV, ROOTSD_CONFIG: 'relative.yaml' };
  const found = ['/etc/rootsd/rootsd.yaml'];
  assert.deepEqual(findConfig(surroundings('serve', env, found), '/x.yaml'), { path: '/x.yaml', named: true });
  assert.deepEqual(findConfig(surroundings('serve', env, found)), { path: 'relative.yaml', named: true });
  assert.deepEqual(findConfig(surroundings('run', env, found)), { path: '/etc/rootsd/rootsd.yaml', named: false });
  assert.deepEqual(findConfig(surroundings('command', { ROOTSD_CONFIG: '' }, found)), {
    path: '/etc/rootsd/rootsd.yaml',
    named: false,
  });
  assert.equal(findConfig(surroundings('serve', ENV)), null);
});
