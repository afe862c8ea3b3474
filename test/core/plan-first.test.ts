import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Catalogue, KnownServer } from '../../src/core/catalogue.ts';
import { planFirst, startsEarly } from '../../src/core/plan-first.ts';
import type { ServerEntry } from '../../src/core/policy.ts';
import { type ChosenChannel, type DescribedChannel, UNKNOWN_SERVER } from '../../src/core/server-traits.ts';

function known(npm: string, kind: 'roots' | 'argv' | 'cwd'): KnownServer {
  const channel: DescribedChannel = { channel: { kind }, empty: 'keeps', error: 'keeps' };
  const match = { npm: [npm], pypi: [], command: [], image: [] };
  const lists = { example: [], warnings: [], unenforced: [], sources: [] };
  return { ...UNKNOWN_SERVER, name: npm, title: npm, match, ...lists, channels: [channel] };
}

function entry(name: string, channels: readonly ChosenChannel[], command: readonly string[] = []): ServerEntry {
  const source = { layer: 'user', file: 'f', line: 1, column: 1 } as const;
  const selectors = command.length === 0 ? {} : { command };
  const rest = { roots: true, hostRoots: 'narrow', guard: 'on', confine: 'none', paths: [] } as const;
  return { name, selectors, source, channels, ...rest };
}

describe('startsEarly()', () => {
  const catalogue: Catalogue = [known('by-roots', 'roots'), known('by-argv', 'argv'), known('by-cwd', 'cwd')];
  const servers = [
    entry('plain', ['roots', 'argv']),
    entry('named', ['env']),
    entry('fitting', ['config'], ['x', 'y']),
  ];
  const first = planFirst(catalogue, servers);
  const rows: [server: string | null, command: string, early: boolean][] = [
    [null, 'anything', true],
    [null, 'npx by-roots', true],
    [null, 'npx by-argv', true],
    ['plain', 'anything', true],
    // Something else than roots and arguments can carry the boundary.
    [null, 'npx by-cwd', false],
    ['plain', 'npx by-cwd', false],
    ['named', 'anything', false],
    ['fitting', 'anything', false],
    // Without a name it is whoever its command fits.
    [null, 'x y z', false],
    [null, 'x z', true],
  ];
  for (const [server, command, early] of rows) {
    it(`${early ? 'lets' : 'does not let'} ${server ?? 'a nameless one'}, "${command}", be started before its plan`, () => {
      const read = JSON.parse(JSON.stringify(first));
      assert.equal(startsEarly(read, { server, argv: command.split(' ') }), early);
    });
  }
});
