// Benchmarks measure what is shipped: bundled as `npm run build` does it, but with an entry of their own.
import { fileURLToPath, pathToFileURL } from 'node:url';

const OUTDIR = fileURLToPath(new URL('../dist/bench', import.meta.url));

/** Bundles modules of src/ (name → path below the checkout) and imports what comes out, as one object a name. */
export async function fromSource(entries) {
  await bundleSource(entries);
  return loadBundled(entries);
}

/** Only bundles: for a process that starts those that are measured. */
export async function bundleSource(entries) {
  const { buildSync } = await import('esbuild');
  const absWorkingDir = fileURLToPath(new URL('..', import.meta.url));
  const shared = { bundle: true, platform: 'node', format: 'esm', target: 'node20.19', packages: 'external' };
  buildSync({ ...shared, absWorkingDir, entryPoints: entries, outdir: OUTDIR, splitting: true, logLevel: 'warning' });
}

/** Imports what bundleSource() has made. */
export async function loadBundled(entries) {
  const loaded = Object.keys(entries).map(async (name) => [name, await import(pathToFileURL(`${OUTDIR}/${name}.js`))]);
  return Object.fromEntries(await Promise.all(loaded));
}
