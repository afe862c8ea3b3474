// Run as a user who is refused things by file modes: prints what is offered of a directory that is shut, and of the one above it.
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { asRealPath } from '../../src/core/path.ts';
import { runAtOnce } from '../../src/core/steps.ts';
import { fetchPlace } from '../../src/disk/fetch-place.ts';
import { kernelWalk } from '../../src/disk/kernel-walk.ts';
import { completePath } from '../../src/lib/complete-path.ts';
import { ownList } from '../../src/lib/told-list.ts';

const [base = ''] = process.argv.slice(2);
mkdirSync(`${base}/shut/inside`, { recursive: true });
writeFileSync(`${base}/open`, '');
writeFileSync(`${base}/unread`, 'text', { mode: 0 });
symlinkSync('shut/inside', `${base}/link`);
chmodSync(`${base}/shut`, 0);

const root = asRealPath(base);
const limits = { bounds: [{ path: root, carved: [] }], want: 'all', maxBytes: 100, maxEntries: 100 } as const;
const fetched = (path: string) => {
  const place = runAtOnce(fetchPlace({ ...limits, path }, kernelWalk()));
  return place.ok ? place.entries?.map(({ name }) => name).toSorted() : place.errno;
};
const completed = (typed: string) => completePath(typed, ownList([root])).map((path) => path.slice(base.length));
const report = {
  fetched: ['', '/shut', '/shut/inside', '/unread'].map((path) => fetched(`${base}${path}`)),
  completed: ['/', '/shut/', '/shut/inside/'].map((typed) => completed(`${base}${typed}`)),
};
chmodSync(`${base}/shut`, 0o700);
console.log(JSON.stringify(report));
