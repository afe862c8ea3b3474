import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commandFits, matchPeer } from '../../src/core/match-peer.ts';
import type { Peer, User } from '../../src/core/peer.ts';
import { composePolicy, type LayerPolicy, type Selectors, type ServerEntry } from '../../src/core/policy.ts';
import type { Rule, UserSelector } from '../../src/core/rule.ts';
import { EMPTY_LAYER } from '../support/policy.ts';

const SOURCE = { layer: 'user', file: 'a.yaml', line: 1, column: 1 } as const;

const S = { server: 's', host: null } as const;
const CLAIMED: Peer = { observed: { pid: 1, user: {} }, claimed: S, class: 'claimed' };

describe('commandFits()', () => {
  const rows: readonly [command: string, argv: string, fits: boolean][] = [
    // a prefix of the argv
    ['npx -y pkg', 'npx -y pkg', true],
    ['npx -y pkg', 'npx -y pkg /dir', true],
    ['npx -y pkg', 'npx -y', false],
    ['npx -y pkg', 'npx pkg', false],
    // its first word by base name unless absolute
    ['npx -y pkg', '/usr/bin/npx -y pkg', true],
    ['/usr/bin/npx -y pkg', 'npx -y pkg', false],
    ['/usr/bin/npx -y pkg', '/opt/npx -y pkg', false],
    ['npx', 'notnpx', false],
    ['npx', '/x/npx/other', false],
    // a package name also with @version
    ['npx -y @scope/pkg', 'npx -y @scope/pkg@1.2.3', true],
    ['npx -y @scope/pkg', 'npx -y @scope/pkg@', false],
    ['npx -y @scope/pkg', 'npx -y @scope/pkg-other', false],
    ['npx -y @scope/pkg@1', 'npx -y @scope/pkg', false],
    ['npx', 'npx@1', false],
  ];
  for (const [command, argv, fits] of rows) {
    it(`says ${fits ? 'yes' : 'no'} for "${command}" and "${argv}"`, () => {
      assert.equal(commandFits(command.split(' '), argv.split(' ')), fits);
    });
  }

  it('never fits an empty command', () => assert.equal(commandFits([], ['npx']), false));
});

describe('matchPeer()', () => {
  // A claim whose selectors fail is a missing fact, another name is "no", no name is a missing fact.
  const run = { argv: ['npx', '-y', 'pkg', '/dir'], cwd: '/' };
  const rows: readonly [name: string, selectors: Selectors | null, peer: Partial<Peer>, match: string][] = [
    ['a claimed name without an entry', null, {}, 'yes'],
    ['a claimed name with an empty entry', {}, {}, 'yes'],
    ['another name', {}, { claimed: { server: 'other', host: null } }, 'no'],
    ['no name', {}, { claimed: { server: null, host: null } }, 'missing'],
    ['a command that was launched', { command: ['npx', '-y', 'pkg'] }, launched(run), 'yes'],
    [
      'a command that was only claimed',
      { command: ['npx', '-y', 'pkg'] },
      { claimed: { ...S, launch: run } },
      'missing',
    ],
    ['another command', { command: ['uvx'] }, launched(run), 'missing'],
    ['a socket it did not come in by', { socket: 'git' }, {}, 'missing'],
    ['the socket it came in by', { socket: 'git' }, { observed: { pid: 1, user: {}, listener: 'git' } }, 'yes'],
    ['its program', { exe: '/bin/s' }, { observed: { pid: 1, user: {}, exe: '/bin/s' } }, 'yes'],
    ['another program', { exe: '/bin/s' }, { observed: { pid: 1, user: {}, exe: '/bin/t' } }, 'missing'],
    [
      'its program behind run',
      { exe: '/bin/s' },
      { ...launched(run), observed: { pid: 1, user: {}, exe: '/bin/s' } },
      'missing',
    ],
    ['a digest', { sha256: 'a'.repeat(64) }, launched(run), 'missing'],
    ['require launched of a claim', { require: 'launched' }, {}, 'missing'],
    ['require launched of run', { require: 'launched' }, launched(run), 'yes'],
    ['require attested of run', { require: 'attested' }, launched(run), 'missing'],
    ['all selectors but one', { command: ['npx'], socket: 'git' }, launched(run), 'missing'],
    ['selectors of a peer that fulfils them', { sha256: 'a'.repeat(64) }, { fulfils: { server: true } }, 'yes'],
  ];
  for (const [name, selectors, peer, match] of rows) {
    it(`says ${match} for ${name}`, () => {
      const policy = composePolicy([layer(selectors)]);
      assert.equal(matchPeer(rule({ servers: ['s'] }), { ...CLAIMED, ...peer }, policy).match, match);
    });
  }

  const users: readonly [user: User, selector: UserSelector, match: string][] = [
    [{ name: 'ana' }, { kind: 'name', name: 'ana' }, 'yes'],
    [{ name: 'ana' }, { kind: 'name', name: 'bob' }, 'no'],
    [{ uid: 7 }, { kind: 'name', name: 'ana' }, 'missing'],
    [{ uid: 7 }, { kind: 'uid', uid: 7 }, 'yes'],
    [{ groups: ['dev'] }, { kind: 'group', group: 'dev' }, 'yes'],
    [{ groups: [] }, { kind: 'group', group: 'dev' }, 'no'],
    [{ name: 'ana' }, { kind: 'group', group: 'dev' }, 'missing'],
  ];
  for (const [user, selector, match] of users) {
    it(`says ${match} for ${JSON.stringify(user)} and ${JSON.stringify(selector)}`, () => {
      const peer = { ...CLAIMED, observed: { pid: 1, user } };
      assert.equal(matchPeer(rule({ users: [selector] }), peer, composePolicy([layer(null)])).match, match);
    });
  }

  it('names the facts it lacks', () => {
    const policy = composePolicy([layer({ command: ['npx'], socket: 'git' })]);
    const { missing } = matchPeer(rule({ servers: ['s'], hosts: ['h'] }), CLAIMED, policy);
    assert.deepEqual(missing, ['server "s": command, socket', 'host']);
  });

  it('takes the selectors of a host as those of the parent of run', () => {
    const hosts = [{ name: 'h', selectors: { exe: '/bin/host' }, source: SOURCE }];
    const policy = composePolicy([{ ...layer(null), hosts }]);
    const observed = (exe: string) => ({ pid: 1, user: {}, parent: { pid: 2, exe } });
    const peer = { ...CLAIMED, class: 'launched', claimed: { server: 's', host: 'h' } } as const;
    assert.equal(matchPeer(rule({ hosts: ['h'] }), { ...peer, observed: observed('/bin/host') }, policy).match, 'yes');
    assert.equal(matchPeer(rule({ hosts: ['h'] }), { ...peer, observed: observed('/bin/x') }, policy).match, 'missing');
  });
});

function launched(launch: { argv: string[]; cwd: string }): Partial<Peer> {
  return { class: 'launched', claimed: { server: 's', host: null, launch } };
}

function rule(who: Pick<Rule, 'servers' | 'hosts' | 'users'>): Rule {
  const rest = {
    targets: [],
    except: [],
    access: 'read-only',
    scopes: [],
    mandatory: false,
    approver: 'user',
  } as const;
  return { id: 'r', effect: 'allow', ...rest, ...who, source: SOURCE };
}

function layer(selectors: Selectors | null): LayerPolicy {
  const entry: Omit<ServerEntry, 'selectors'> = {
    name: 's',
    roots: true,
    hostRoots: 'narrow',
    guard: 'on',
    paths: [],
    confine: 'none',
    source: SOURCE,
  };
  const servers = selectors === null ? [] : [{ ...entry, selectors }];
  return { ...EMPTY_LAYER, servers };
}
