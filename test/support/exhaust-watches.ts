// Run where the kernel gives three watches only: watches more roots than that and prints what becomes of it.
import { mkdirSync, rmSync } from 'node:fs';
import { openRootWatcher } from '../../src/disk/watch-roots.ts';
import { declare } from './root-watcher.ts';

const [base = ''] = process.argv.slice(2);
const names = Array.from({ length: 10_000 }, (_, i) => `r${i}`);
for (const name of names) mkdirSync(`${base}/${name}`);
const warnings: string[] = [];
let changes = 0;
const watcher = openRootWatcher({
  declarations: names.map((name) => declare(name, `${base}/${name}`)),
  patterns: [],
  readProject: () => undefined,
  onChange: () => {
    changes += 1;
  },
  onWarning: (warning) => warnings.push(warning.message),
});
await watcher.sweep();
await watcher.sweep();
for (const name of names) rmSync(`${base}/${name}`, { recursive: true });
for (const name of names) mkdirSync(`${base}/${name}`);
await watcher.sweep();
const { watched, unwatched } = watcher.counts();
watcher.close();
console.log(JSON.stringify({ warnings, changes, watched, unwatched }));
