import assert from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { knownServerFor } from '../../src/core/catalogue.ts';
import { parseCatalogue, readCatalogue, readShippedCatalogue } from '../../src/policy/read-catalogue.ts';
import { temporaryDirectory } from '../support/tree.ts';
import { ANA } from './shown-problems.ts';

const SHIPPED = fileURLToPath(new URL('../../config/servers.yaml', import.meta.url));

function problemsOf(entry: string): string[] {
  const read = parseCatalogue('servers.yaml', `version: 1\nservers:\n  s: ${entry}\n`, { expansions: ANA });
  assert.notEqual(read.state, 'absent');
  return 'problems' in read ? read.problems.map(({ code, line, column }) => `${code} ${line}:${column}`) : [];
}

describe('config/servers.yaml', () => {
  const read = parseCatalogue(SHIPPED, readFileSync(SHIPPED, 'utf8'), { expansions: ANA });

  it('holds against its schema, without a warning', () => {
    assert.equal(read.state, 'good');
    assert.deepEqual(read.state === 'good' && read.problems, []);
  });

  it('is read without the schema to the same', () => {
    assert.deepEqual(readShippedCatalogue(SHIPPED, ANA), read.state === 'good' && read.servers);
  });

  it('says of every server where that is known from, and how it is started', () => {
    for (const { name, sources, example } of readShippedCatalogue(SHIPPED, ANA)) {
      assert.ok(sources.length > 0 && example.length > 0, name);
      for (const source of sources) assert.match(source, /^https:\/\//, name);
    }
  });

  it('takes each example for the server whose it is', () => {
    const servers = readShippedCatalogue(SHIPPED, ANA);
    for (const { name, example } of servers) assert.equal(knownServerFor(servers, example)?.name, name);
  });
});

describe('parseCatalogue()', () => {
  it('compiles the channels of a server', () => {
    const text = `version: 1
servers:
  s:
    title: S
    match: { npm: [s] }
    channels:
      - roots
      - { kind: env, name: A, separator: ":", empty: everything }
      - { kind: env, name: B, json: true }
      - { kind: env, name: C, value: "{primary}/x" }
      - { kind: config, path: ~/s.toml, key: [files, allowed], format: toml, error: everything }
    tools: { read: [r], write: [w] }
    barrier-ms: 300
`;
    const read = parseCatalogue('servers.yaml', text, { expansions: ANA });
    const [server] = read.state === 'good' ? read.servers : [];
    const keeps = { empty: 'keeps', error: 'keeps' };
    assert.deepEqual(server?.channels, [
      { channel: { kind: 'roots' }, ...keeps },
      { channel: { kind: 'env', name: 'A', value: { form: 'list', separator: ':' } }, ...keeps, empty: 'everything' },
      { channel: { kind: 'env', name: 'B', value: { form: 'json' } }, ...keeps },
      { channel: { kind: 'env', name: 'C', value: { form: 'template', template: '{primary}/x' } }, ...keeps },
      {
        channel: { kind: 'config', path: '/home/ana/s.toml', key: ['files', 'allowed'], format: 'toml' },
        ...keeps,
        error: 'everything',
      },
    ]);
    assert.deepEqual([server?.tools, server?.barrierMs], [{ r: 'read', w: 'write' }, 300]);
  });

  const rows: [what: string, entry: string, ...problems: string[]][] = [
    ['what is missing', '{ title: S }', 'SCHEMA_MISSING_KEY 3:3'],
    ['what is not known', '{ title: S, match: { npm: [s] }, chanels: [roots] }', 'SCHEMA_UNKNOWN_KEY 3:39'],
    ['a match by nothing', '{ title: S, match: {} }', 'SCHEMA_EMPTY 3:25'],
    ['an env by its name alone', '{ title: S, match: { npm: [s] }, channels: [env] }', 'CATALOGUE_CHANNEL 3:50'],
    [
      'an env that is nothing or two things',
      '{ title: S, match: { npm: [s] }, channels: [{ kind: env, name: A }, { kind: env, name: A, json: true, separator: "," }] }',
      'SCHEMA_ONE_OF 3:50',
      'SCHEMA_ONE_OF 3:74',
    ],
    [
      'keys of another kind',
      '{ title: S, match: { npm: [s] }, channels: [{ kind: roots, name: A }] }',
      'SCHEMA_MISPLACED_KEY 3:65',
    ],
    [
      'a value that no root stands in',
      '{ title: S, match: { npm: [s] }, channels: [{ kind: env, name: A, value: "{roots}/x" }] }',
      'SCHEMA_PATTERN 3:79',
    ],
    [
      'a file that could be anywhere',
      '{ title: S, match: { npm: [s] }, channels: [{ kind: config, path: a.json, key: k }] }',
      'POLICY_PATH 3:72',
    ],
  ];
  for (const [what, entry, ...problems] of rows) {
    it(`refuses ${what}`, () => assert.deepEqual(problemsOf(entry), problems));
  }
});

describe('readCatalogue()', () => {
  it('tells absent from wrong, and from what others may write', async (t) => {
    const directory = temporaryDirectory(t);
    const path = join(directory, 'servers.yaml');
    const trust = { layer: 'user', uid: process.getuid?.() ?? 0, home: directory } as const;
    const read = () => readCatalogue(path, { expansions: ANA, trust });
    assert.equal((await read()).state, 'absent');
    writeFileSync(path, 'version: 1\nservers: {}\n', { mode: 0o600 });
    assert.equal((await read()).state, 'good');
    chmodSync(path, 0o666);
    const others = await read();
    assert.deepEqual(others.state === 'broken' && others.problems.map(({ code }) => code), ['TRUST_OTHERS_WRITE']);
    writeFileSync(path, 'version: 2\nservers: {}\n');
    assert.equal((await read()).state, 'broken');
  });
});
