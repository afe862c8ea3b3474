// Benchmarks measure what is shipped: bundled as `npm run build` does it, but with an entry of their own.
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';

/** Bundles modules of src/ (name → path below the checkout) and imports what comes out, as one object a name. */
export async function fromSource(entries) {
  const outdir = fileURLToPath(new URL('../dist/bench', import.meta.url));
  const absWorkingDir = fileURLToPath(new URL('..', import.meta.url));
  const shared = { bundle: true, platform: 'node', format: 'esm', target: 'node20.19', packages: 'external' };
  buildSync({ ...shared, absWorkingDir, entryPoints: entries, outdir, splitting: true, logLevel: 'warning' });
  const loaded = Object.keys(entries).map(async (name) => [name, await import(pathToFileURL(`${outdir}/${name}.js`))]);
  return Object.fromEntries(await Promise.all(loaded));
}
