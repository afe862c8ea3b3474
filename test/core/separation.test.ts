import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ProcessTraits, type RunTraits, whyNotFrom, whyNotFromRun } from '../../src/core/separation.ts';

const TRAITS: ProcessTraits = { pid: 1, ancestors: [1], session: 10, cgroup: '/user', noNewPrivileges: false };
/** The host has pid 20, `run` 30, the server 40. */
const HOST: ProcessTraits = { ...TRAITS, pid: 20 };
const SERVER: ProcessTraits = { ...TRAITS, pid: 40, ancestors: [30, 20, 1] };
const CALLER: ProcessTraits = { ...TRAITS, pid: 50, ancestors: [45, 1] };

function why(
  caller: Partial<ProcessTraits>,
  run: { host?: Partial<ProcessTraits>; server?: Partial<ProcessTraits> } = {},
) {
  const descendants = [{ ...SERVER, ...run.server }];
  const runs: readonly RunTraits[] = [{ pid: 30, parent: { ...HOST, ...run.host }, descendants }];
  return whyNotFrom({ ...CALLER, ...caller }, runs);
}

describe('whyNotFrom()', () => {
  it('takes anybody where nothing runs', () => assert.equal(whyNotFrom(CALLER, []), null));
  it('takes who shares what the host shares too', () => assert.equal(why({}), null));
  it('takes a shell beside the host', () => assert.equal(why({ ancestors: [20, 1] }), null));
  it('takes who has a session and a control group of its own', () => {
    assert.equal(why({ session: 11, cgroup: '/other' }, { server: { session: 12, cgroup: '/server' } }), null);
  });
  it('takes no new privileges where the host has none either', () => {
    assert.equal(why({ noNewPrivileges: true }, { host: { noNewPrivileges: true } }), null);
  });
  const rows: readonly [says: string, ...Parameters<typeof why>, message: RegExp][] = [
    ['a child of a server', { ancestors: [40, 30, 20, 1] }, {}, /has started this process .*pid 30/],
    ['the server itself', { ancestors: [30, 20, 1] }, {}, /has started/],
    ['who left but kept the session', { session: 12 }, { server: { session: 12 } }, /session/],
    ['who left but kept the control group', { cgroup: '/server' }, { server: { cgroup: '/server' } }, /control group/],
    ['who cannot get new privileges', { noNewPrivileges: true }, {}, /new privileges/],
    ['of whom that cannot be read', { noNewPrivileges: undefined }, {}, /new privileges/],
  ];
  for (const [says, caller, run, message] of rows) {
    it(`refuses ${says}`, () => assert.match(why(caller, run) ?? '', message));
  }
});

describe('whyNotFromRun()', () => {
  /** The same host has started a second one, 31, with a server, 41. A third is of another host. */
  const RUN: ProcessTraits = { ...TRAITS, pid: 30, ancestors: [20, 1] };
  const runs = (own: Partial<ProcessTraits>, host: Partial<ProcessTraits> = {}): readonly RunTraits[] => [
    { pid: 30, parent: { ...HOST, ...host }, descendants: [{ ...SERVER, ...own }] },
    { pid: 31, parent: { ...HOST, ...host }, descendants: [{ ...SERVER, pid: 41, ancestors: [31, 20, 1], ...own }] },
    {
      pid: 32,
      parent: { ...HOST, pid: 21 },
      descendants: [{ ...SERVER, pid: 42, ancestors: [32, 21, 1], session: 12 }],
    },
  ];
  const own = { session: 11, cgroup: '/run', noNewPrivileges: true };

  it('takes a run whatever it shares with its own server and with those of the same host', () => {
    assert.equal(whyNotFromRun(RUN, runs({})), null);
    assert.equal(whyNotFromRun({ ...RUN, ...own }, runs(own, { noNewPrivileges: true }).slice(0, 2)), null);
    assert.equal(whyNotFromRun({ ...RUN, ...own }, runs(own).slice(0, 2)), null);
  });
  it('refuses a run that a server has started, be it of the same host', () => {
    assert.match(whyNotFromRun({ ...RUN, pid: 50, ancestors: [40, 30, 20, 1] }, runs({})) ?? '', /started .*pid 30/);
    assert.match(whyNotFromRun({ ...RUN, pid: 50, ancestors: [30, 20, 1] }, runs({})) ?? '', /started .*pid 30/);
  });
  it('refuses a run that has left a server, also where the run of that server has no host any more', () => {
    const server = { ...SERVER, ancestors: [30, 1], session: 12 };
    const orphan: RunTraits = { pid: 30, parent: { ...HOST, pid: 1 }, descendants: [server] };
    assert.match(whyNotFromRun({ ...RUN, pid: 50, ancestors: [1], session: 12 }, [orphan]) ?? '', /session .*pid 30/);
    assert.equal(whyNotFromRun({ ...RUN, ancestors: [1], session: 12 }, [orphan]), null, 'that run itself');
  });
  it('refuses a run that has left a server and kept what it shares with that alone', () => {
    assert.match(whyNotFromRun({ ...RUN, pid: 50, ancestors: [1], session: 12 }, runs({})) ?? '', /session .*pid 32/);
  });
});
