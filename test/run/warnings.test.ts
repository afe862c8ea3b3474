import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RefusedRequest } from '../../src/client/connection.ts';
import type { LaunchPlan, WireViewEntry } from '../../src/core/protocol.ts';
import { UNKNOWN_SERVER } from '../../src/core/server-traits.ts';
import { daemonLost, nothingAllowed } from '../../src/run/warnings.ts';
import { VERSION } from '../../src/version.ts';
import { OBEDIENT_SERVER, RunHost, useRun } from '../support/run-host.ts';
import { setUpRun } from '../support/run-setup.ts';
import { ROOTSD, TestHome } from '../support/serve.ts';

const PLAN = {
  ...UNKNOWN_SERVER,
  roots: true,
  hostRoots: 'narrow',
  guard: 'on',
  version: 'x',
  policyDirectories: ['/etc/rootsd/policies.d'],
  policyState: 'ok',
} as const;
const NO_FILES: LaunchPlan = { ...PLAN, policyFiles: [], policyFileCount: 0 };
const ONE_FILE: LaunchPlan = { ...PLAN, policyFiles: ['/p.yaml'], policyFileCount: 1 };

const GIT = { server: 'git', command: ['node', '/my server.js'] };

function entry(why: string, allowed = false): WireViewEntry {
  const decision = allowed
    ? ({ effect: 'allow', kind: 'rule', access: 'read-only' } as const)
    : ({ effect: 'deny', kind: 'implicit', access: null } as const);
  return { root: 'a', ...decision, available: true, why };
}

describe('daemonLost()', () => {
  it('says the words of a daemon that refuses, and of one that is not there that it is gone', () => {
    const data = { code: 'PEER_AMBIGUOUS', hint: 'Say which one' };
    const said = daemonLost(new RefusedRequest({ code: -32600, message: 'two fit', data }));
    assert.match(said, /^The daemon refuses: two fit\. Say which one: nothing is allowed/);
    assert.match(daemonLost(null), /has been gone for 30 s/);
  });
});

describe('nothingAllowed()', () => {
  const ROWS: readonly (readonly [what: string, sentence: string, expected: string])[] = [
    ['names the server', nothingAllowed(GIT, ONE_FILE, []), 'allowed to server "git"'],
    [
      'counts the files that the plan does not name',
      nothingAllowed(GIT, { ...ONE_FILE, policyFileCount: 1_000 }, []),
      '(read: /p.yaml and 999 more)',
    ],
    [
      'says of a nameless server what it lacks',
      nothingAllowed({ ...GIT, server: null }, ONE_FILE, []),
      'has no name (--server)',
    ],
    [
      'has nobody allow what is allowed to another command',
      nothingAllowed(GIT, ONE_FILE, [entry('rule "r" would allow it, but a fact is missing: server "git": command')]),
      '; compare the words behind "--" with "command" of server "git" in the policy, or leave "command" out there',
    ],
    [
      'says by which words it was started, and which are declared where',
      nothingAllowed(
        GIT,
        { ...ONE_FILE, declared: { command: ['npx', '-y', 'git-srv'], file: '/p.yaml', line: 3 } },
        [],
      ),
      `; server "git" was started by node '/my server.js', but its command is npx -y git-srv in /p.yaml:3: make both the same, or leave "command" out there`,
    ],
    [
      'cuts words that are long',
      nothingAllowed(
        { ...GIT, command: ['x'.repeat(1_000)] },
        { ...ONE_FILE, declared: { command: ['y'], file: '/p.yaml', line: 3 } },
        [],
      ),
      `started by ${'x'.repeat(300)}…, but`,
    ],
    ['names the files that were read', nothingAllowed(GIT, ONE_FILE, []), '(read: /p.yaml)'],
    [
      'says that no file was found',
      nothingAllowed(GIT, NO_FILES, []),
      '(no policy file was found in /etc/rootsd/policies.d)',
    ],
    [
      'says that the policy is broken where it is',
      nothingAllowed(GIT, { ...NO_FILES, policyState: 'lockdown' }, []),
      'the policy is broken and no good one is known; see "rootsd check"',
    ],
    ['names the command that helps', nothingAllowed(GIT, NO_FILES, []), '"rootsd allow PATH --server git"'],
    [
      'gives each reason once, three at most',
      nothingAllowed(
        GIT,
        ONE_FILE,
        ['x', 'x', 'y', 'z', 'w'].map((why) => entry(why)),
      ),
      '); x; y; z; "rootsd allow',
    ],
    [
      'tells a host that narrows to nothing apart from a policy that does',
      nothingAllowed(GIT, ONE_FILE, [entry('rule "r" allows it', true)]),
      "; the host's own roots leave nothing of what is allowed; ",
    ],
  ];
  for (const [what, sentence, expected] of ROWS) {
    it(what, () => assert.ok(sentence.includes(expected), sentence));
  }
});

const program = useRun();

describe('rootsd run, in front of a daemon of another version', () => {
  it('says so once, also where the daemon was replaced by another', async (t) => {
    const { host, daemon } = await setUpRun(t, program());
    await host.initialize();
    daemon.stop();
    daemon.plan = { ...daemon.plan, version: '9.8.7' };
    await daemon.listen();
    await host.said(`The daemon is rootsd 9.8.7, this is rootsd ${VERSION}: start the older of the two again\n`);
    daemon.publish({ generation: '02', roots: [], boundary: [], view: [] });
    await host.said('No directory is allowed');
    assert.equal(host.stderr.split('The daemon is rootsd').length - 1, 1);
  });
});

describe('rootsd run, where nothing is allowed', () => {
  it('says by which other words the server is declared, and where', async (t) => {
    const home = new TestHome(t, ['dir home/a']);
    const file = home.policy(`roots: { a: { path: ~/a } }
servers:
  fs: { command: [npx, -y, "my server"] }
rules: [{ id: r, allow: [a], servers: [fs], access: read-only }]`);
    await home.serve();
    const command = [process.execPath, OBEDIENT_SERVER];
    const args = ['run', '--socket', home.socket, '--server', 'fs', '--', ...command];
    const host = new RunHost(t, { program: ROOTSD, args, env: home.env });
    await host.said(
      `server "fs" was started by ${command.join(' ')}, but its command is npx -y 'my server' in ${file}:4: make both`,
    );
  });

  it('says so once, with the files that were read and the command that allows a directory', async (t) => {
    const { host, daemon } = await setUpRun(t, program(), { allowed: [] });
    await host.initialize();
    await host.said('No directory is allowed to server "o" (read: /etc/rootsd/policies.d/fake.yaml)');
    await host.said('"rootsd allow PATH --server o" allows a directory');
    daemon.publish({ generation: '02', roots: [], boundary: [], view: [] });
    await daemon.next('rootsd/ack');
    await daemon.next('rootsd/ack');
    assert.equal(host.stderr.split('No directory is allowed').length - 1, 1);
  });
});
