import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { identifyPeer } from '../../src/core/identify.ts';
import { composePolicy, type LayerPolicy } from '../../src/core/policy.ts';
import { EMPTY_LAYER } from '../support/policy.ts';

const SOURCE = { layer: 'user', file: 'a.yaml', line: 1, column: 1 } as const;
const ARGV = ['npx', '-y', 'pkg', '/dir'];

describe('identifyPeer()', () => {
  // Launched: the command line that the kernel shows is one of ours and ends with what is said to be started.
  const rows: readonly [argv: string, class_: string][] = [
    ['node /x/bin/rootsd run --server s -- npx -y pkg /dir', 'launched'],
    ['rootsd run -- npx -y pkg /dir', 'launched'],
    ['node /x/bin/rootsd run --server s -- npx -y pkg /other', 'claimed'],
    ['node /x/bin/rootsd run --server s -- npx -y pkg /dir more', 'claimed'],
    ['node /x/bin/rootsd run --server s npx -y pkg /dir', 'claimed'],
    ['node /x/bin/other run -- npx -y pkg /dir', 'claimed'],
    ['node /x/bin/rootsd serve -- npx -y pkg /dir', 'claimed'],
    ['run -- npx -y pkg /dir', 'claimed'],
  ];
  for (const [argv, class_] of rows) {
    it(`calls a peer ${class_} whose command line is "${argv}"`, () => {
      const observed = { pid: 1, user: {}, argv: argv.split(' ') };
      const found = identifyPeer(policy({}), { server: 's', host: null, launch: { argv: ARGV, cwd: '/' } }, observed);
      assert.equal(found.state === 'known' && found.peer.class, class_);
    });
  }

  it('calls a peer claimed of whose command line the kernel says nothing', () => {
    const found = identifyPeer(policy({}), { server: 's', host: null, launch: { argv: ARGV, cwd: '/' } }, null);
    assert.equal(found.state === 'known' && found.peer.class, 'claimed');
  });

  // Without a name: the one declared server whose command fits.
  const nameless = (commands: Record<string, string[]>) =>
    identifyPeer(policy(commands), { server: null, host: null, launch: { argv: ARGV, cwd: '/' } }, null);

  it('names a nameless peer after the one server whose command fits', () => {
    const found = nameless({ a: ['npx', '-y', 'pkg'], b: ['uvx'] });
    assert.equal(found.state === 'known' && found.peer.claimed.server, 'a');
  });

  it('finds two servers that fit ambiguous', () => {
    assert.deepEqual(nameless({ a: ['npx'], b: ['npx', '-y'] }), { state: 'ambiguous', servers: ['a', 'b'] });
  });

  it('takes who comes in by a listener for the server of that listener, whatever it says', () => {
    const named = policy({ a: ['npx'], b: ['uvx'] }, { b: 'git' });
    const observed = { pid: 1, user: {}, listener: 'git' };
    const found = identifyPeer(named, { server: 'a', host: null }, observed);
    assert.equal(found.state === 'known' && found.peer.claimed.server, 'b');
    const other = identifyPeer(named, { server: 'a', host: null }, { ...observed, listener: 'other' });
    assert.equal(other.state === 'known' && other.peer.claimed.server, 'a');
  });

  it('leaves a peer nameless where no command fits', () => {
    const found = nameless({ b: ['uvx'] });
    assert.equal(found.state === 'known' && found.peer.claimed.server, null);
  });
});

function policy(
  commands: Record<string, string[]>,
  sockets: Record<string, string> = {},
): ReturnType<typeof composePolicy> {
  const rest = { roots: true, hostRoots: 'narrow', guard: 'on', paths: [], confine: 'none', source: SOURCE } as const;
  const servers = Object.entries(commands).map(([name, command]) => ({
    name,
    selectors: { command, ...(sockets[name] === undefined ? {} : { socket: sockets[name] }) },
    ...rest,
  }));
  const layer: LayerPolicy = { ...EMPTY_LAYER, servers };
  return composePolicy([layer]);
}
