import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fitsGlob } from '../../src/core/glob.ts';

test('fitsGlob() knows stars, question marks, and nothing else', () => {
  const rows: [glob: string, name: string, fits: boolean][] = [
    ['*.ts', 'a.ts', true],
    ['*.ts', '.ts', true],
    ['*.ts', 'a.tsx', false],
    ['*.ts', 'a.ts.ts', true],
    ['?.ts', '\u{1f600}.ts', true],
    ['?.ts', '.ts', false],
    ['a*b*c', 'axxbxxbc', true],
    ['a*b*c', 'axxbxxb', false],
    ['*', '', true],
    ['', '', true],
    ['', 'a', false],
    ['[a].{b}(c)+', '[a].{b}(c)+', true],
    ['[a]', 'a', false],
    ['a', 'A', false],
    ['**', 'anything', true],
  ];
  for (const [glob, name, fits] of rows) assert.equal(fitsGlob(glob, name), fits, `${glob} ${name}`);
});

test('fitsGlob() takes no longer where much could be tried', () => {
  assert.equal(fitsGlob(`${'*a'.repeat(50)}b`, 'a'.repeat(5_000)), false);
});
