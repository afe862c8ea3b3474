import assert from 'node:assert/strict';
import { test } from 'node:test';
import { terminalName, writeToTerminalOf } from '../../src/disk/write-terminal.ts';

/** As the kernel numbers devices. */
function device(major: number, minor: number): number {
  return (minor & 0xff) | (major << 8) | ((minor & 0xfff00) << 12);
}

for (const [major, minor, expected] of [
  [136, 0, 'pts/0'],
  [136, 255, 'pts/255'],
  [137, 1, 'pts/257'],
  [136, 300, 'pts/300'],
  [4, 1, 'tty1'],
  [4, 63, 'tty63'],
  // tty0 is whichever is in front, ttyS0 a line to somewhere else.
  [4, 0, null],
  [4, 64, null],
  [5, 0, null],
  [0, 0, null],
  [144, 0, null],
] as const) {
  test(`terminalName() of ${major}:${minor} is ${expected}`, () => {
    assert.equal(terminalName(device(major, minor)), expected);
  });
}

test('writeToTerminalOf() writes nothing for who leads no session at a terminal, or is not there', () => {
  assert.equal(writeToTerminalOf(2 ** 22 + 1, 'x'), false);
});
