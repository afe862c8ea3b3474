import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type KnownServer, knownServerFor, traitsOf } from '../../src/core/catalogue.ts';
import type { ServerEntry } from '../../src/core/policy.ts';
import { carriersOf, type DescribedChannel, UNKNOWN_SERVER } from '../../src/core/server-traits.ts';

const ENV: DescribedChannel = {
  channel: { kind: 'env', name: 'DIRS', value: { form: 'json' } },
  empty: 'everything',
  error: 'keeps',
};
const ROOTS: DescribedChannel = { channel: { kind: 'roots' }, empty: 'nothing', error: 'keeps' };

function known(name: string, more: Partial<KnownServer> = {}): KnownServer {
  const match = { npm: [], pypi: [], command: [], image: [], ...more.match };
  const lists = { example: [], warnings: [], unenforced: [], sources: [] };
  const { paths, relativePaths, tools, barrierMs } = UNKNOWN_SERVER;
  return { name, title: name, channels: [], paths, relativePaths, tools, barrierMs, ...lists, ...more, match };
}

function entry(more: Partial<ServerEntry>): ServerEntry {
  const source = { layer: 'user', file: 'f', line: 1, column: 1 } as const;
  const selectors = {};
  const base = {
    name: 's',
    selectors,
    source,
    roots: true,
    hostRoots: 'narrow',
    guard: 'on',
    confine: 'none',
  } as const;
  return { ...base, paths: [], ...more };
}

describe('knownServerFor()', () => {
  const none = { npm: [], pypi: [], command: [], image: [] };
  const catalogue = [
    known('fs', { match: { ...none, npm: ['@m/fs', 'fs'], command: ['mcp-fs'] } }),
    known('git', { match: { ...none, pypi: ['mcp-git'], image: ['mcp/git'] } }),
  ];
  const rows: [command: string, server: string | undefined][] = [
    // A package is known behind what starts packages, in any place and version.
    ['npx -y @m/fs /a', 'fs'],
    ['/usr/bin/npx --package @m/fs@2026.8.1 mcp-fs', 'fs'],
    ['npm exec @m/fs@latest -- /a', 'fs'],
    ['uvx mcp-git --repository /a', 'git'],
    ['uvx --python 3.12 mcp-git@1.2 -r /a', 'git'],
    ['uv tool run --from mcp-git[x]==2.0 mcp-git', 'git'],
    ['python3.12 -m mcp_git', 'git'],
    ['docker run -i --rm mcp/git:latest', 'git'],
    ['podman run mcp/git@sha256:00', 'git'],
    // A program by its base name, and what node is given by the package it lies in.
    ['mcp-fs /a', 'fs'],
    ['/opt/bin/mcp-fs', 'fs'],
    ['node /x/node_modules/@m/fs/dist/index.js', 'fs'],
    // Nothing else.
    ['npx -y @m/fs-other', undefined],
    ['npx -y x@m/fs', undefined],
    ['echo @m/fs', undefined],
    ['uvx @m/fs', undefined],
    ['npx mcp-git', undefined],
    ['python3 -m mcp_gitx', undefined],
    ['docker run mcp/git-other', undefined],
    ['node /x/@m/fs/index.js', undefined],
    ['', undefined],
  ];
  for (const [command, server] of rows) {
    it(`takes "${command}" for ${server}`, () => {
      assert.equal(knownServerFor(catalogue, command.split(' '))?.name, server);
    });
  }

  it('takes the first of several that match', () => {
    const mine = known('mine', { match: { ...none, command: ['mcp-fs'] } });
    assert.equal(knownServerFor([mine, ...catalogue], ['mcp-fs'])?.name, 'mine');
  });
});

describe('traitsOf()', () => {
  it('gives an unknown server roots, arguments and the tombstone', () => {
    assert.deepEqual(traitsOf(undefined, undefined), UNKNOWN_SERVER);
  });

  it('takes channels from the policy, else from the catalogue, and roots only where they are on', () => {
    const server = known('s', { channels: [ENV, ROOTS] });
    const kinds = (given: Partial<ServerEntry>) => traitsOf(server, entry(given)).channels.map(({ kind }) => kind);
    assert.deepEqual(kinds({}), ['env', 'roots']);
    assert.deepEqual(kinds({ roots: false }), ['env']);
    assert.deepEqual(kinds({ channels: ['cwd', 'roots'] }), ['cwd', 'roots']);
    assert.deepEqual(kinds({ channels: [ENV] }), ['env']);
    // What a word alone does not say, the catalogue does; where it does not either, there is no such channel.
    assert.deepEqual(traitsOf(server, entry({ channels: ['env'] })).channels, [ENV.channel]);
    assert.deepEqual(kinds({ channels: ['config', 'argv'] }), ['argv']);
  });

  it('answers emptiness as is safe in every channel that can be empty', () => {
    const empty = (...channels: DescribedChannel[]) => traitsOf(known('s', { channels }), undefined).empty;
    const keeps: DescribedChannel = { ...ROOTS, empty: 'keeps' };
    const argv: DescribedChannel = { channel: { kind: 'argv' }, empty: 'everything', error: 'keeps' };
    assert.deepEqual(
      [empty(ROOTS), empty(ROOTS, keeps), empty(ROOTS, ENV, keeps), empty(), empty(ROOTS, argv)],
      ['empty', 'tombstone', 'stop', 'tombstone', 'empty'],
    );
  });

  it('joins the argument names of catalogue and policy', () => {
    assert.deepEqual(traitsOf(known('s', { paths: ['a', 'b'] }), entry({ paths: ['b', 'c'] })).paths, ['a', 'b', 'c']);
  });
});

describe('carriersOf()', () => {
  const channels = (words: string) =>
    words.split(' ').flatMap((kind) => (kind === 'env' ? [ENV.channel] : [{ kind: kind as 'roots' | 'argv' | 'cwd' }]));
  const rows: [channels: string, without: string[], withPlaceholders: string[]][] = [
    // The first that can; arguments always where there are placeholders.
    ['roots argv', ['roots'], ['roots', 'argv']],
    ['argv roots', ['roots'], ['argv']],
    ['roots cwd', ['roots'], ['roots', 'argv']],
    ['argv', [], ['argv']],
    ['env argv', ['env'], ['env', 'argv']],
    ['cwd', ['cwd'], ['cwd', 'argv']],
  ];
  for (const [words, without, withPlaceholders] of rows) {
    it(`gives of "${words}" ${without}; with placeholders ${withPlaceholders}`, () => {
      const kinds = (has: boolean) => carriersOf(channels(words), has).map(({ kind }) => kind);
      assert.deepEqual([kinds(false), kinds(true)], [without, withPlaceholders]);
    });
  }
});
