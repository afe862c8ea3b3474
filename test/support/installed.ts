import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** What the package ships and needs when it runs, besides its dependencies. */
const PARTS = ['package.json', 'bin', 'dist', 'config', 'policies'];

export interface InstallOptions {
  /** Optional dependencies that are left out, as where npm could not build them. */
  readonly without?: readonly string[];
}

/**
 * Installs the built program in a directory as npm would, without development dependencies, readable by every user (the
 * checkout may not be). Returns the path of `rootsd`.
 */
export function installProgram(directory: string, { without = [] }: InstallOptions = {}): string {
  mkdirSync(directory, { recursive: true, mode: 0o755 });
  for (const part of PARTS) cpSync(join(ROOT, part), join(directory, part), { recursive: true });
  const modules = productionModules().filter(
    (path) => !without.some((name) => path.startsWith(`node_modules/${name}`)),
  );
  for (const path of modules) cpSync(join(ROOT, path), join(directory, path), { recursive: true });
  for (let at = directory; at !== dirname(at) && at.includes('rootsd-test-'); at = dirname(at)) chmodSync(at, 0o755);
  return join(directory, 'bin/rootsd');
}

function productionModules(): readonly string[] {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
  };
  const paths = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true);
  return paths.map(([path]) => path).filter((path) => existsSync(join(ROOT, path)));
}
