// Real directories, files, links and pipes, a few words a line, removed after the test.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';

/** A new, empty, canonical directory (0700) that is removed after the test. */
export function temporaryDirectory(t: Pick<TestContext, 'after'>): string {
  const directory = realpathSync.native(mkdtempSync(join(tmpdir(), 'rootsd-test-')));
  t.after(() => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }));
  return directory;
}

/**
 * Builds a tree in a temporary directory from lines: `dir a/b`, `file a/f some text`, `link a/l -> ../b`, `fifo a/p`.
 * Parents are made. Returns the canonical base directory.
 */
export function makeTree(t: Pick<TestContext, 'after'>, lines: readonly string[]): string {
  const base = temporaryDirectory(t);
  for (const line of lines) makeEntry(base, line);
  return base;
}

/** Makes one entry of a tree, see makeTree(). */
export function makeEntry(base: string, line: string): void {
  const [, kind, rest] = /^(\w+) (.*)$/s.exec(line) ?? [];
  if (kind === undefined || rest === undefined) throw new Error(`Bad tree line: ${line}`);
  if (kind === 'link') {
    const [name = '', target = ''] = rest.split(' -> ');
    mkdirSync(dirname(join(base, name)), { recursive: true });
    symlinkSync(target, join(base, name));
    return;
  }
  const [name = '', ...words] = rest.split(' ');
  const path = join(base, name);
  mkdirSync(kind === 'dir' ? path : dirname(path), { recursive: true });
  if (kind === 'file') {
    writeFileSync(path, words.join(' '));
    chmodSync(path, 0o644);
  } else if (kind === 'fifo') execFileSync('mkfifo', [path]);
  else if (kind !== 'dir') throw new Error(`Bad tree line: ${line}`);
}
