import assert from 'node:assert/strict';
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type ConfigRead, parseConfig, readConfig } from '../../src/policy/read-config.ts';
import { SCHEMAS } from '../../src/policy/schema.ts';
import { defaultSettings, parseDuration, parseSize } from '../../src/policy/settings.ts';
import { makeTree } from '../support/tree.ts';
import { ANA, shown } from './shown-problems.ts';

const DIRECTORIES = { system: '/etc/rootsd/policies.d', user: '/home/ana/.config/rootsd/policies.d' };
const PLACES = { expansions: ANA, policyDirectories: DIRECTORIES };

function parse(body: string): ConfigRead {
  return parseConfig('rootsd.yaml', `version: 1\n${body}`, PLACES);
}

test('config/rootsd.yaml shows every setting with the value that holds without a file', () => {
  const text = readFileSync(new URL('../../config/rootsd.yaml', import.meta.url), 'utf8');
  const shipped = parseConfig('rootsd.yaml', text, PLACES);
  assert.ok(shipped.state === 'good');
  assert.deepEqual(shipped.settings, defaultSettings(DIRECTORIES));
  assert.deepEqual(parse(''), { state: 'good', settings: defaultSettings(DIRECTORIES), problems: [] });
  for (const key of settingKeys(SCHEMAS.config)) assert.match(text, new RegExp(`^ *(?:# )?${key}:`, 'm'), key);
});

/** The keys of a configuration's sections and of what is in them. */
function settingKeys(schema: unknown): string[] {
  const { properties = {} } = schema as { properties?: Record<string, unknown> };
  return Object.entries(properties).flatMap(([key, child]) => [key, ...settingKeys(child)]);
}

test('parseConfig() reads every setting', () => {
  const read = parse(`layers: { system: "/srv/\${hostname}/sys", user: ~/policies }
listeners:
  git: { path: git.sock, mode: "0660", speaks: server }
  ide: { path: "~/ide.sock", speaks: client }
limits: { message: 512KiB, sessions: 5, queue: 1GiB }
log: { level: debug }
audit: { file: /var/log/audit.jsonl, size: 1MiB, keep: 1 }
consent: { timeout: 2m, channels: [agent], askpass: ~/bin/ask }
`);
  assert.ok(read.state === 'good', JSON.stringify(read));
  assert.deepEqual(read.settings, {
    layers: { system: '/srv/box/sys', user: '/home/ana/policies' },
    listeners: [
      { name: 'git', path: 'git.sock', mode: 0o660, speaks: 'server' },
      { name: 'ide', path: '/home/ana/ide.sock', mode: 0o600, speaks: 'client' },
    ],
    limits: { messageBytes: 524_288, sessions: 5, queueBytes: 1_073_741_824 },
    log: { level: 'debug' },
    audit: { file: '/var/log/audit.jsonl', sizeBytes: 1_048_576, keep: 1 },
    consent: { timeoutMs: 120_000, channels: ['agent'], askpass: '/home/ana/bin/ask' },
  });
});

test('parseConfig() refuses what is not exactly right', () => {
  const rows: readonly (readonly [body: string, ...expected: string[]])[] = [
    ['loging: {}\n', 'SCHEMA_UNKNOWN_KEY 2:1'],
    ['log: { lvl: info }\n', 'SCHEMA_UNKNOWN_KEY 2:8'],
    ['log: { level: verbose }\n', 'SCHEMA_VALUE 2:15'],
    [
      'limits: { message: 4MB, queue: 4194304, sessions: 0 }\n',
      'SCHEMA_PATTERN 2:20',
      'SCHEMA_TYPE 2:32',
      'SCHEMA_VALUE 2:51',
    ],
    ['limits: { sessions: "5" }\n', 'SCHEMA_TYPE 2:21'],
    ['consent: { timeout: 60, channels: host }\n', 'SCHEMA_TYPE 2:21', 'SCHEMA_LIST 2:35'],
    ['consent: { timeout: 60sec, channels: [mail] }\n', 'SCHEMA_PATTERN 2:21', 'SCHEMA_VALUE 2:39'],
    ['layers: { user: policies, system: /a/../b }\n', 'POLICY_PATH 2:17', 'POLICY_PATH 2:35'],
    ['layers: { user: /a/* }\n', 'POLICY_PATH 2:17'],
    ['audit: { file: ../x }\n', 'POLICY_PATH 2:16'],
    ['listeners: { "a b": { path: x } }\n', 'SCHEMA_PATTERN 2:14'],
    ['listeners: { a: { mode: "0600" } }\n', 'SCHEMA_MISSING_KEY 2:14'],
  ];
  for (const [body, ...expected] of rows) {
    const read = parse(body);
    assert.ok(read.state === 'broken', body);
    assert.deepEqual(shown(read.problems), expected, body);
  }
});

test('parseConfig() takes a mode only as octal digits in quotes, and says so', () => {
  const rows: readonly (readonly [mode: string, code: string])[] = [
    ['0600', 'YAML_LEADING_ZERO'],
    ['600', 'SCHEMA_TYPE'],
    ['384', 'SCHEMA_TYPE'],
    ['0o600', 'SCHEMA_TYPE'],
    ['"600"', 'SCHEMA_PATTERN'],
    ['"0888"', 'SCHEMA_PATTERN'],
    ['rw', 'SCHEMA_PATTERN'],
  ];
  for (const [mode, code] of rows) {
    const read = parse(`listeners: { a: { path: x, mode: ${mode} } }\n`);
    assert.ok(read.state === 'broken', mode);
    const [found] = read.problems;
    assert.equal(found?.code, code, mode);
    assert.match(`${found?.message} ${found?.hint}`, /"0600"/, mode);
  }
});

test('readConfig() tells good, absent and broken apart, with one error that sums up', async (t) => {
  const base = makeTree(t, [
    'file good.yaml version: 1\n',
    'file bad.yaml version: 2\nx: 1\n',
    'fifo pipe.yaml',
    'file f x',
  ]);
  const uid = process.getuid?.() ?? 0;
  const read = (name: string) => readConfig(join(base, name), { ...PLACES, trust: { layer: 'user', uid, home: base } });
  assert.equal((await read('good.yaml')).state, 'good');
  assert.deepEqual(await read('none.yaml'), { state: 'absent' });
  const bad = await read('bad.yaml');
  assert.ok(bad.state === 'broken');
  assert.equal(bad.problems.length, 2);
  assert.equal(bad.error.code, 'CONFIG_INVALID');
  assert.match(bad.error.message, /bad\.yaml": "version" is 2: it must be 1 \(and 1 more\)/);
  assert.equal(bad.error.at?.line, 1);
  const unreadable = await read('f/x');
  assert.ok(unreadable.state === 'broken' && unreadable.error.code === 'CONFIG_UNREADABLE');
  assert.equal((await read('pipe.yaml')).state, 'broken');
  chmodSync(join(base, 'good.yaml'), 0o666);
  const open = await read('good.yaml');
  assert.deepEqual(open.state === 'broken' && open.problems.map(({ code }) => code), ['TRUST_OTHERS_WRITE']);
});

test('parseSize() and parseDuration() know their units', () => {
  assert.deepEqual(['1KiB', '4MiB', '2GiB'].map(parseSize), [1024, 4_194_304, 2_147_483_648]);
  assert.deepEqual(['1s', '2m', '3h'].map(parseDuration), [1000, 120_000, 10_800_000]);
});
