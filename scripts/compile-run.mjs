// What V8 makes of dist/run.js, for bin/rootsd, which then need not compile it: all that is called until a server is ready, and
// no more, since whatever else were there would have to be read and kept at each start. The rest is compiled when it is called.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [BUNDLE, RECORDER, SERVER] = ['../dist/run.js', 'record-run.cjs', 'usual-server.mjs'].map((name) =>
  fileURLToPath(new URL(name, import.meta.url)),
);
const nameOf = (digest) => `run-${digest.slice(0, 16)}.compiled`;
/** What the first line of the bundle names before that. */
export const UNNAMED = nameOf('0'.repeat(16));
const POLICY = `roots: { a: { path: ~/a } }
rules: [{ id: r, allow: [a], access: read-write }]
`;

/** Runs a short session of the built program, and writes what was compiled in it beside the bundle, which names it. */
export async function compileRun() {
  const code = readFileSync(BUNDLE, 'latin1');
  const compiled = nameOf(createHash('sha256').update(code).digest('hex'));
  writeFileSync(BUNDLE, code.replace(UNNAMED, compiled), 'latin1');
  // They look whether there is a build.
  const [{ openHome, ROOTSD }, { StdioHost }] = await Promise.all([
    import('../bench/home.mjs'),
    import('../bench/stdio-host.mjs'),
  ]);
  const home = await openHome(POLICY);
  try {
    mkdirSync(join(home.home, 'a'));
    const record = [process.execPath, RECORDER, BUNDLE, join(BUNDLE, '..', compiled), ROOTSD];
    const host = new StdioHost([...record, '--', process.execPath, SERVER], { env: home.env, cwd: home.base });
    await host.initialize();
    host.initialized();
    await host.request('ping');
    await host.close();
  } finally {
    await home.close();
  }
}
