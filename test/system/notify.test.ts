import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openNative } from '../../src/disk/native.ts';
import type { Log } from '../../src/system/log.ts';
import { openNotify, type SendState } from '../../src/system/notify.ts';
import { makeTree } from '../support/tree.ts';

const quiet: Log = () => {};

test('openNotify() sends each state in systemd’s words', () => {
  const sent: string[][] = [];
  const notify = openNotify({ address: '/run/n', send: (...datagram) => sent.push(datagram), log: quiet });
  notify.ready('2 roots, 1 session');
  notify.status('degraded');
  notify.alive();
  notify.stopping();
  assert.deepEqual(sent, [
    ['/run/n', 'READY=1\nSTATUS=2 roots, 1 session'],
    ['/run/n', 'STATUS=degraded'],
    ['/run/n', 'WATCHDOG=1'],
    ['/run/n', 'STOPPING=1'],
  ]);
});

test('reloading() carries the monotonic time in microseconds', () => {
  const sent: string[] = [];
  const notify = openNotify({ address: '@n', send: (_address, state) => sent.push(state), log: quiet });
  const before = process.hrtime.bigint() / 1_000n;
  notify.reloading();
  const [, usec = ''] = /^RELOADING=1\nMONOTONIC_USEC=(\d+)$/.exec(sent[0] ?? '') ?? [];
  assert.ok(BigInt(usec) >= before && BigInt(usec) <= process.hrtime.bigint() / 1_000n);
});

test('ready() keeps a status from adding a variable of its own', () => {
  const sent: string[] = [];
  const notify = openNotify({ address: '@n', send: (_address, state) => sent.push(state), log: quiet });
  notify.ready('cannot read "a\nMAINPID=1\r\n.yaml"');
  assert.deepEqual(sent, ['READY=1\nSTATUS=cannot read "a MAINPID=1 .yaml"']);
});

test('openNotify() is silent without a service manager', () => {
  const send: SendState = () => assert.fail('sent');
  for (const address of [undefined, '']) {
    const notify = openNotify({ address, send, log: quiet });
    notify.ready('x');
    notify.reloading();
    notify.stopping();
  }
});

test('openNotify() logs what cannot be sent, once for failures in a row, and goes on', () => {
  const logged: unknown[] = [];
  const log: Log = (level, event) => logged.push([level, event]);
  const manager = { isThere: false };
  const send: SendState = () => {
    if (!manager.isThere) throw new Error('ENOENT');
  };
  const notify = openNotify({ address: '/run/n', send, log });
  notify.ready('x');
  notify.alive();
  assert.deepEqual(logged, [['warn', 'service manager not told']]);
  manager.isThere = true;
  notify.alive();
  manager.isThere = false;
  notify.alive();
  assert.equal(logged.length, 2);
});

/** Prints what it receives but the barriers (each message has to be taken, or systemd-notify waits). */
const RECEIVER = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
sys.stdout.write("bound\\n")
sys.stdout.flush()
while True:
    state = s.recv(4096).decode()
    if not state.startswith("BARRIER"):
        sys.stdout.write(state)
        sys.stdout.flush()`;

for (const [way, needs] of [
  ['native', 'koffi'],
  ['program', 'systemd-notify'],
] as const) {
  test(`openNotify() reaches a real datagram socket by ${needs}`, async (t) => {
    const native = way === 'native' ? await openNative() : null;
    if (way === 'native' && native === null) return t.skip('needs koffi');
    if (way === 'program' && !existsSync('/usr/bin/systemd-notify')) return t.skip('needs systemd-notify');
    const address = join(makeTree(t, []), 'notify.sock');
    const receiver = spawn('python3', ['-c', RECEIVER, address], { stdio: ['ignore', 'pipe', 'inherit'] });
    t.after(() => receiver.kill('SIGKILL'));
    receiver.stdout.setEncoding('utf8');
    await once(receiver.stdout, 'data');
    const received = once(receiver.stdout, 'data');
    const log: Log = (_level, event, fields) => assert.fail(`${event}: ${fields?.error}`);
    openNotify({ address, send: native?.sendDatagram.bind(native), log }).ready('all well');
    assert.deepEqual(await received, ['READY=1\nSTATUS=all well']);
  });
}
