import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { temporaryDirectory } from './tree.ts';

const NOBODY = 65534;

/** Why a test that needs a refusal by file mode cannot run here, or false. Root is refused nothing, so it must step down. */
export const needsRoot: string | false = process.getuid?.() === 0 ? false : 'must be root to become another user';

/**
 * Runs a script of this directory as another user, with a directory of that user's own as its argument, and returns what
 * it prints. `wrap`: a command line to run it by.
 */
export function runAsNobody(t: Pick<TestContext, 'after'>, script: string, wrap: readonly string[] = []): string {
  const directory = temporaryDirectory(t);
  chmodSync(directory, 0o755);
  mkdirSync(`${directory}/own`);
  chownSync(`${directory}/own`, NOBODY, NOBODY);
  const [command = '', ...rest] = [...wrap, process.execPath, bundle(script, directory), `${directory}/own`];
  const { status, stdout, stderr } = spawnSync(command, rest, { uid: NOBODY, gid: NOBODY, cwd: '/', encoding: 'utf8' });
  if (status !== 0) throw new Error(`The script ended with ${status}: ${stderr}`);
  return stdout;
}

/** One file that needs nothing else: the other user may not be able to read the checkout. */
function bundle(script: string, directory: string): string {
  const outfile = `${directory}/script.mjs`;
  const entry = fileURLToPath(new URL(script, import.meta.url));
  buildSync({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'esm', target: 'node20' });
  chmodSync(outfile, 0o644);
  return outfile;
}
