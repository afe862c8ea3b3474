// The temporary home of `rootsd serve --example`: example policies and an example tree, nothing of the user's.

import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Io } from './io.ts';

export interface ExampleHome {
  readonly home: string;
  /** The policy to edit. */
  readonly policy: string;
  readonly config: string;
  readonly socket: string;
  /** The environment with this home and nothing else that names a directory of the user's. */
  readonly env: Io['env'];
  /** Removes it all. */
  close(): void;
}

/** A path and what is in the file; a path that ends in `/` is a directory. */
const TREE: readonly (readonly [path: string, content: string])[] = [
  ['repos/frontend/index.html', '<h1>Hello from the example</h1>\n'],
  ['repos/backend/main.py', 'print("hello from the example")\n'],
  ['src/website/package.json', '{ "name": "website" }\n'],
  ['src/scratch/notes.txt', 'Not a project: it has neither .git nor package.json\n'],
  ['notes/today.md', '# Today\n'],
  ['.ssh/id_example', 'Not a key. No server should ever see this file.\n'],
];

/** Whatever the umask: files that others may write are not read as policies. */
const OURS = { mode: 0o600 } as const;

/** Makes the home. `policies` is the directory of the shipped examples. */
export function makeExampleHome(policies: string, env: Io['env']): ExampleHome {
  const home = realpathSync.native(mkdtempSync(join(tmpdir(), 'rootsd-example-')));
  for (const [path, content] of TREE) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), content, OURS);
  }
  const directory = join(home, '.config/rootsd/policies.d');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const policy = join(directory, 'example.yaml');
  // It refers to the schema by its place beside the examples; an editor must find it from here too.
  const text = readFileSync(join(policies, 'example.yaml'), 'utf8');
  writeFileSync(
    policy,
    text.replace('$schema=..', () => `$schema=${dirname(policies)}`),
    OURS,
  );
  const config = join(home, '.config/rootsd/rootsd.yaml');
  const system = join(home, 'etc/policies.d');
  writeFileSync(
    config,
    `version: 1\nlayers: { system: ${JSON.stringify(system)}, user: ${JSON.stringify(directory)} }\n`,
    OURS,
  );
  return {
    home,
    policy,
    config,
    socket: join(home, 'run/rootsd.sock'),
    env: { PATH: env.PATH, TERM: env.TERM, LANG: env.LANG, NO_COLOR: env.NO_COLOR, HOME: home },
    close: () => rmSync(home, { recursive: true, force: true }),
  };
}
