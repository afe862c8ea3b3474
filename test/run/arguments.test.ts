import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { parseRunArguments, type RunOptions, USAGE } from '../../src/run/arguments.ts';
import { RunHost, useRun } from '../support/run-host.ts';

const NONE = { server: null, host: null, socket: undefined, stdio: 'socket' } as const;

describe('parseRunArguments()', () => {
  const ROWS: readonly (readonly [readonly string[], Partial<RunOptions>])[] = [
    [['--', 'c'], { command: ['c'] }],
    [
      ['--server', 's', '--host=h', '--', 'c', '--server', 'x'],
      { server: 's', host: 'h', command: ['c', '--server', 'x'] },
    ],
    [['--', 'c', '--', 'd'], { command: ['c', '--', 'd'] }],
    [['--socket', '/s', '--stdio', 'pipe', '--', 'c', ''], { socket: '/s', stdio: 'pipe', command: ['c', ''] }],
    [['--pdeathsig', 'TERM', '--', 'c'], { deathSignal: 'SIGTERM', command: ['c'] }],
    [['--pdeathsig=SIGKILL', '--', 'c'], { deathSignal: 'SIGKILL', command: ['c'] }],
  ];
  for (const [argv, expected] of ROWS) {
    it(`reads ${argv.join(' ')}`, () => assert.deepEqual(parseRunArguments(argv, {}), { ...NONE, ...expected }));
  }

  it('takes the socket from the environment where none is given', () => {
    const socketOf = (env: Record<string, string>, ...argv: string[]): unknown =>
      parseRunArguments([...argv, '--', 'c'], env)?.socket;
    assert.equal(socketOf({ ROOTSD_SOCKET: '/e' }), '/e');
    assert.equal(socketOf({ ROOTSD_SOCKET: '/e' }, '--socket', '/o'), '/o');
    assert.equal(socketOf({ ROOTSD_SOCKET: '' }), undefined);
  });

  for (const argv of [
    [],
    ['c'],
    ['--'],
    ['--server', '--', 'c'],
    ['--nope', '--', 'c'],
    ['x', '--', 'c'],
    ['--stdio', 'file', '--', 'c'],
    ['--pdeathsig', 'NOPE', '--', 'c'],
    ['--pdeathsig', '9', '--', 'c'],
  ]) {
    it(`refuses "${argv.join(' ')}"`, () => assert.throws(() => parseRunArguments(argv, {}), { code: 'USAGE' }));
  }
});

const program = useRun();

describe('rootsd run, its own output', () => {
  it('is the usage for --help, with status 0', () => {
    assert.equal(execFileSync(process.execPath, [program(), '--help'], { encoding: 'utf8' }), USAGE);
  });

  it('is one line on standard error for a wrong command line, with status 64', async (t) => {
    const host = new RunHost(t, { program: program(), args: ['--nope', '--', 'c'] });
    assert.deepEqual(await host.ended, { status: 64, signal: null });
    assert.equal(host.output.length, 0);
    assert.match(host.stderr, /^rootsd: .*--nope.*\n$/);
  });
});
