// Builds dist/: the program with its chunks, `rootsd run` as one file of its own (it must load next to nothing) and
// compiled, what it loads for files of settings, the helper process that looks at slow places, the thread that reads large
// policies, and the libraries, which share their errors, with the types of what they export.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';
import { build } from 'esbuild';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
const shared = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  define: { ROOTSD_VERSION: JSON.stringify(version) },
  logLevel: 'warning',
};

/** CommonJS, which Node starts sooner than a module. */
const commonJs = { ...shared, format: 'cjs', outExtension: { '.js': '.cjs' } };

/**
 * The text of a function, as Node makes one of a module of CommonJS: bin/rootsd calls it. It lies beside the helper that it
 * starts, which is a module.
 */
const asFunction = {
  ...shared,
  format: 'cjs',
  define: { ...shared.define, 'import.meta.url': 'moduleUrl' },
  banner: {
    js: "(function (require, module, __dirname) {\n'use strict';\nconst moduleUrl = require('node:url').pathToFileURL(`${__dirname}/run.js`).href;",
  },
  footer: { js: '})' },
};

/**
 * Editors of three formats: run.js loads them where a file of settings is a server's channel, and nowhere else. By require(),
 * since for import() what is compiled at the build would lie where it was built.
 */
const settingsApart = {
  supported: { 'dynamic-import': false },
  plugins: [
    {
      name: 'settings-apart',
      setup({ onResolve }) {
        onResolve({ filter: /^\.\/settings-file\.ts$/ }, () => ({ path: './settings-file.cjs', external: true }));
      },
    },
  ],
};

/** Beside what starts it, run.js and a chunk, see src/disk/helper-process.ts. */
const HELPER = 'src/disk/slow-places-helper.ts';
const helper = { 'slow-places-helper': HELPER, 'chunks/slow-places-helper': HELPER };
/** Beside the chunk that starts it, see src/policy/prover.ts; what it runs it shares with the rest. */
const thread = { 'chunks/prover-thread': 'src/policy/prover-thread.ts' };

rmSync(new URL('dist', import.meta.url), { recursive: true, force: true });
await build({ ...asFunction, ...settingsApart, entryPoints: { run: 'src/run/main.ts' }, outdir: 'dist' });
await build({
  ...commonJs,
  entryPoints: { 'settings-file': 'src/run/settings-file.ts' },
  outdir: 'dist',
  packages: 'external',
});
await build({ ...shared, entryPoints: helper, outdir: 'dist' });
await build({
  ...shared,
  entryPoints: { main: 'src/main.ts', ...thread },
  outdir: 'dist',
  splitting: true,
  packages: 'external',
  chunkNames: 'chunks/[name]-[hash]',
});
const libraries = { host: 'src/lib/host.ts', server: 'src/lib/server.ts' };
await build({ ...shared, entryPoints: libraries, outdir: 'dist/lib', splitting: true, chunkNames: 'shared-[hash]' });
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.lib.json'], { stdio: 'inherit' });
compileRun(new URL('dist/run.js', import.meta.url));

/** What V8 makes of the bundle, for bin/rootsd: of all functions, also those that are rarely called. */
function compileRun(bundle) {
  const code = readFileSync(bundle, 'utf8');
  const compiled = `run-${createHash('sha256').update(code).digest('hex').slice(0, 16)}.compiled`;
  const text = `// ${compiled}\n${code}`;
  setFlagsFromString('--no-lazy');
  const script = new Script(text, { filename: 'run.js' });
  // As they are where it is taken: V8 takes nothing that was made with other flags.
  setFlagsFromString('--lazy');
  writeFileSync(bundle, text);
  writeFileSync(new URL(compiled, bundle), script.createCachedData());
}
