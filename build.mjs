// Builds dist/: the program with its chunks, `rootsd run` as one file of its own (it must load next to nothing) and
// compiled, what it loads for files of settings, the helper process that looks at slow places, the thread that reads large
// policies, and the libraries, which share their errors, with the types of what they export.
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { build } from 'esbuild';
import { compileRun, UNNAMED } from './scripts/compile-run.mjs';

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
  define: { ...shared.define, 'import.meta.filename': '__filename', 'import.meta.dirname': '__dirname' },
  banner: { js: `// ${UNNAMED}\n(function (require, module, __filename, __dirname) {\n'use strict';` },
  footer: { js: '})' },
  // It is read at each start. What a trace of it means, run.js.map tells.
  minify: true,
  lineLimit: 120,
  sourcemap: 'external',
  sourcesContent: false,
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
try {
  await compileRun();
} catch (error) {
  // Where no socket can be made, say. All works without; each start takes a little longer.
  console.error(`"rootsd run" is compiled when it starts: a session at the build failed (${error.message})`);
}
