import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A file of this package, wherever this code has been built to: beside the nearest package.json above. */
export function packageFile(path: string): string {
  let directory = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(directory, 'package.json')) && directory !== '/') directory = dirname(directory);
  return join(directory, path);
}
