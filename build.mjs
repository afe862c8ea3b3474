// Builds dist/: the program with its chunks, `rootsd run` as one file of its own (it must load next to nothing), what
// it loads for files of settings, the helper process that looks at slow places, the thread that reads large policies, and
// the libraries, each one file, with the types of what they export.
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
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

/**
 * CommonJS, which Node starts sooner than a module. To itself it is run.js: what it starts, the helper, is a module and lies
 * beside it.
 */
const commonJs = {
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  define: { ...shared.define, 'import.meta.url': 'moduleUrl' },
  banner: { js: "'use strict';\nconst moduleUrl = require('node:url').pathToFileURL(`${__dirname}/run.js`).href;" },
};

/** Editors of three formats: run.cjs loads them where a file of settings is a server's channel, and nowhere else. */
const settingsApart = {
  name: 'settings-apart',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/settings-file\.ts$/ }, () => ({ path: './settings-file.js', external: true }));
  },
};

/** Beside what starts it, run.cjs and a chunk, see src/disk/helper-process.ts. */
const HELPER = 'src/disk/slow-places-helper.ts';
const helper = { 'slow-places-helper': HELPER, 'chunks/slow-places-helper': HELPER };
/** Beside the chunk that starts it, see src/policy/prover.ts; what it runs it shares with the rest. */
const thread = { 'chunks/prover-thread': 'src/policy/prover-thread.ts' };

rmSync(new URL('dist', import.meta.url), { recursive: true, force: true });
const run = { run: 'src/run/main.ts' };
await build({ ...shared, ...commonJs, entryPoints: run, outdir: 'dist', plugins: [settingsApart] });
await build({
  ...shared,
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
await build({ ...shared, entryPoints: { server: 'src/lib/server.ts' }, outdir: 'dist/lib' });
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.lib.json'], { stdio: 'inherit' });
