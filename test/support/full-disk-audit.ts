// Writes an audit on a small disk until it is full, makes room again and writes on: full-disk-audit.ts DIRECTORY
// Prints what became of it as JSON.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openAudit } from '../../src/state/audit.ts';
import type { Log } from '../../src/system/log.ts';
import { verifyAudit } from './verify-audit.ts';

const [disk = ''] = process.argv.slice(2);
const path = join(disk, 'audit.jsonl');
const filler = join(disk, 'filler');
writeFileSync(filler, Buffer.alloc(40 * 1024));
const said: string[] = [];
const log: Log = (_level, event) => said.push(event);
const audit = openAudit({ path, sizeBytes: 1e9, keep: 1, owner: { uid: 0 }, log, now: () => new Date() });
const text = 'x'.repeat(900);
for (let i = 0; said.length === 0; i += 1) audit.append('session list changed', { i, text });
const cutShort = !readFileSync(path, 'utf8').endsWith('\n');
rmSync(filler);
audit.append('session list changed', { last: true });
const last = JSON.parse(readFileSync(path, 'utf8').trimEnd().split('\n').at(-1) ?? '');
console.log(JSON.stringify({ cutShort, said, verdict: verifyAudit([path]).ok, last: last.last }));
