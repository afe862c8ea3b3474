// Run as a user who is refused things by file modes: prints what resolving gives for paths into a directory that is shut.
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { kernelWalk, realpathWalk } from '../../src/disk/kernel-walk.ts';
import { resolvePath } from '../../src/disk/resolve.ts';

const [base = ''] = process.argv.slice(2);
mkdirSync(`${base}/shut/inside`, { recursive: true });
symlinkSync('shut/inside', `${base}/link`);
symlinkSync('shut/new', `${base}/dangling`);
chmodSync(`${base}/shut`, 0);

const report = [kernelWalk(), realpathWalk()].map((walk) =>
  ['shut/inside', 'shut/new', 'link', 'link/x', 'dangling', 'shut'].map((path) => {
    const resolved = resolvePath(`${base}/${path}`, walk);
    return resolved.ok ? 'ok' : resolved.errno;
  }),
);
chmodSync(`${base}/shut`, 0o700);
console.log(JSON.stringify(report));
