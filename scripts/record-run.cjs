// Runs `rootsd run` as bin/rootsd does, and at the end keeps what V8 has compiled by then: the functions that were called.
// Usage: node record-run.cjs BUNDLE COMPILED PROGRAM ARG… (those of `run`)
const { readFileSync, writeFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
const { Script } = require('node:vm');

const [, , bundle, compiled, binRootsd, ...args] = process.argv;
const script = new Script(readFileSync(bundle, 'latin1'), { filename: 'run.js' });
process.once('exit', () => writeFileSync(compiled, script.createCachedData()));
const run = { exports: {} };
const dist = dirname(bundle);
script.runInThisContext()((id) => require(id.startsWith('.') ? join(dist, id) : id), run, bundle, dist);
run.exports.runMain(args, { binRootsd });
