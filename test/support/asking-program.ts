// Programs that stand in for those that ask a person: they remember their arguments, and do what a test says.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Writes a program; `deed`: lines of a shell. */
export function standIn(path: string, deed: string): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const remember = `printf '%s\\0' "$@" > '${path}.part' && mv '${path}.part' '${path}.args'`;
  writeFileSync(path, `#!/bin/sh\n${remember}\n${deed}\n`, { mode: 0o700 });
  return path;
}

/** What it was called with, the last time; null: it was not. */
export function argumentsOf(path: string): readonly string[] | null {
  if (!existsSync(`${path}.args`)) return null;
  return readFileSync(`${path}.args`, 'utf8').split('\0').slice(0, -1);
}
