// Comparators in C are compiled where there is a compiler; without one, their rows say so.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const NO_COMPILER = 'no C compiler';

/** Compiles comparators/NAME.c of each name: the paths by name, or null without a compiler. Call `remove()` at the end. */
export function compile(...names) {
  const directory = mkdtempSync(join(tmpdir(), 'rootsd-bench-c-'));
  const remove = () => rmSync(directory, { recursive: true });
  const paths = { remove };
  for (const name of names) {
    const source = fileURLToPath(new URL(`comparators/${name}.c`, import.meta.url));
    paths[name] = join(directory, name);
    const { error, status, stderr } = spawnSync('cc', ['-O2', '-Wall', '-Werror', '-o', paths[name], source]);
    if (error?.code === 'ENOENT') {
      remove();
      return null;
    }
    if (status !== 0) throw new Error(`cc: ${stderr}`);
  }
  return paths;
}
