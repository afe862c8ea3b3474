import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BoundaryEntry } from '../../src/core/protocol.ts';
import type { Channel, EmptyAnswer, EnvValue } from '../../src/core/server-traits.ts';
import { type PreparedLaunch, prepareLaunch } from '../../src/run/launch.ts';

const TOMBSTONE = '/empty';

interface Given {
  readonly channels: readonly Channel[];
  readonly paths: readonly string[];
  readonly empty?: EmptyAnswer;
  readonly args?: readonly string[];
}

function prepare({ channels, paths, empty = 'tombstone', args = [] }: Given): PreparedLaunch {
  const places = paths.map((path, i): BoundaryEntry => ({ root: `r${i}`, path, access: 'read-only', carved: [] }));
  const names = places.map(({ root }) => root);
  const plan = { channels, empty };
  return prepareLaunch({ command: ['x', ...args], places, names, plan, tombstone: () => TOMBSTONE });
}

function env(value: EnvValue): readonly Channel[] {
  return [{ kind: 'env', name: 'DIRS', value }];
}

const COMMA: EnvValue = { form: 'list', separator: ',' };
const COLON: EnvValue = { form: 'list', separator: ':' };
const JSON_LIST: EnvValue = { form: 'json' };
const FILE: EnvValue = { form: 'template', template: '{primary}/memory.jsonl' };
const SECOND: EnvValue = { form: 'template', template: '{root:r1}' };

describe('prepareLaunch(), an argument', () => {
  const rows: [what: string, arg: string, paths: string[], argv: string[], warnings: number][] = [
    ['all roots, whatever their names', '{roots}', ['/a,b', '/c:d;e'], ['/a,b', '/c:d;e'], 0],
    ['a root after an option', '--dir={primary}', ['/a,b'], ['--dir=/a,b'], 0],
    // Who names a directory must not write options.
    ['no comma among options', 'type=bind,src={root:r0}', ['/a,dst=/etc'], [`type=bind,src=${TOMBSTONE}`], 1],
    ['no colon before a target', '{roots}:/data', ['/a:/etc', '/b'], ['/b:/data'], 1],
    ['another separator than its own', '{primary}:/data', ['/a,b'], ['/a,b:/data'], 0],
    ['no line break', '{roots}', ['/a\n/etc', '/b'], ['/b'], 1],
    ['an empty directory where nothing fits', '{roots}:/data', ['/a:/etc'], [`${TOMBSTONE}:/data`], 1],
  ];
  for (const [what, arg, paths, argv, warnings] of rows) {
    it(`holds ${what}`, () => {
      const prepared = prepare({ channels: [{ kind: 'argv' }], paths, args: [arg] });
      assert.deepEqual(prepared.launch?.argv.slice(1), argv);
      assert.equal(prepared.warnings.length, warnings);
    });
  }

  it('says what does not reach the server', () => {
    const { warnings } = prepare({ channels: [{ kind: 'argv' }], paths: ['/a:/etc'], args: ['{primary}:/data'] });
    assert.deepEqual(warnings, [
      'Root "r0" does not reach the server: its path "/a:/etc" cannot stand in the arguments',
    ]);
  });
});

describe('prepareLaunch(), a variable', () => {
  const rows: [what: string, value: EnvValue, paths: string[], text: string][] = [
    ['a list with commas', COMMA, ['/a', '/b:c'], '/a,/b:c'],
    ['a list with colons', COLON, ['/a', '/b,c'], '/a:/b,c'],
    ['a JSON array', JSON_LIST, ['/a,b', '/c"d\n:'], '["/a,b","/c\\"d\\n:"]'],
    ['the first root in a text', FILE, ['/a', '/b'], '/a/memory.jsonl'],
    ['a root by its name', SECOND, ['/a', '/b'], '/b'],
    // What holds the separator or a line break would be something else at the other end.
    ['a path with a comma is left out', COMMA, ['/a,/etc', '/b'], '/b'],
    ['a path with a colon is left out', COLON, ['/b', '/a:/etc'], '/b'],
    ['a path with a line break is left out', COMMA, ['/a\n/etc', '/b'], '/b'],
    ['a first root with a line break is not the first', FILE, ['/a\r/etc', '/b'], '/b/memory.jsonl'],
    // Never an accidental empty list.
    ['nothing that could travel', COMMA, ['/a,b'], TOMBSTONE],
    ['no root', COMMA, [], TOMBSTONE],
    ['no root in JSON', JSON_LIST, [], `["${TOMBSTONE}"]`],
    ['no root in a text', FILE, [], `${TOMBSTONE}/memory.jsonl`],
    ['no root of that name', SECOND, ['/a'], TOMBSTONE],
  ];
  for (const [what, value, paths, text] of rows) {
    it(`holds ${what}`, () => assert.deepEqual(prepare({ channels: env(value), paths }).launch?.env, { DIRS: text }));
  }

  it('is empty only where that means nothing', () => {
    const text = (value: EnvValue) => prepare({ channels: env(value), paths: [], empty: 'empty' }).launch?.env.DIRS;
    assert.deepEqual([text(COMMA), text(JSON_LIST), text(FILE)], ['', '[]', '']);
  });

  it('says what is left out', () => {
    const { warnings } = prepare({ channels: env(COMMA), paths: ['/a,b', '/c'] });
    assert.deepEqual(warnings, ['Root "r0" does not reach the server: its path "/a,b" cannot stand in DIRS']);
  });
});

describe('prepareLaunch(), other channels', () => {
  it('starts in the first root, or in an empty directory', () => {
    const cwd = (...paths: string[]) => prepare({ channels: [{ kind: 'cwd' }], paths }).launch?.cwd;
    assert.deepEqual([cwd('/a', '/b'), cwd()], ['/a', TOMBSTONE]);
  });

  it('gives the list for a file, and whether it grants anything', () => {
    const channel: Channel = { kind: 'config', path: '/c.json', key: ['k'], format: 'json' };
    const settings = (...paths: string[]) => prepare({ channels: [channel], paths }).launch?.settings;
    assert.deepEqual(settings('/a,b', '/c'), { channel, paths: ['/a,b', '/c'], isGrant: true });
    assert.deepEqual(settings(), { channel, paths: [TOMBSTONE], isGrant: false });
  });

  it('uses the first that can, and arguments always', () => {
    const channels: readonly Channel[] = [{ kind: 'roots' }, ...env(COMMA), { kind: 'cwd' }];
    const { launch } = prepare({ channels, paths: ['/a'], args: ['{roots}'] });
    assert.deepEqual(launch, { argv: ['x', '/a'], env: {}, cwd: null, settings: null });
  });

  it('is none where nothing is allowed, or nothing can travel, and that would mean everything', () => {
    for (const kind of ['roots', 'argv', 'cwd'] as const) {
      const { launch } = prepare({ channels: [{ kind }], paths: [], empty: 'stop', args: ['{roots}'] });
      assert.equal(launch, null);
    }
    assert.equal(prepare({ channels: env(COMMA), paths: ['/a,b'], empty: 'stop' }).launch, null);
    assert.notEqual(prepare({ channels: env(COMMA), paths: ['/a,b', '/c'], empty: 'stop' }).launch, null);
  });

  it('warns of a placeholder that names no root of the policy', () => {
    const { warnings } = prepare({ channels: [], paths: ['/a'], args: ['{root:ro}', '{root:r0}'] });
    assert.deepEqual(warnings, [
      'No root of the policy is named "ro": an empty directory stands for "{root:ro}" (there are r0)',
    ]);
  });
});
