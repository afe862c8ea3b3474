// Run in a mount namespace of its own: mounts a file system that nobody serves, so that every call hangs, and runs `rootsd
// run` as it is built with it in its arguments and among the roots of the host. Prints what the server was told, once it is
// known that the file system does not answer, and whether anything waited for that.
import { execFileSync } from 'node:child_process';
import { openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { FakeDaemon, viewOf } from './fake-daemon.ts';
import { type Json, OBEDIENT_SERVER, RunHost } from './run-host.ts';

const [base = ''] = process.argv.slice(2);
const fuse = openSync('/dev/fuse', 'r+');
const options = 'fd=3,rootmode=40000,user_id=0,group_id=0';
execFileSync('mount', ['-i', '-t', 'fuse', '-o', options, 'none', `${base}/hangs`], {
  stdio: ['ignore', 'ignore', 'inherit', fuse],
});
const life = { after: (): void => undefined };
const daemon = await FakeDaemon.start(life, `${base}/run`, viewOf({ a: `${base}/a`, b: `${base}/b` }));
const words = ['--socket', daemon.socket, '--server', 'o', '--', process.execPath, OBEDIENT_SERVER];
const program = fileURLToPath(new URL('../../bin/rootsd', import.meta.url));
const host = new RunHost(life, { program, args: ['run', ...words, `${base}/hangs/x`, `${base}/a`] });

async function rootNames(): Promise<readonly unknown[]> {
  const { result } = (await host.ask('roots')) as { readonly result: { readonly roots: readonly Json[] } };
  return result.roots.map(({ name }) => name);
}

await host.initialize({ roots: {} });
const { id } = await host.next(({ method }) => method === 'roots/list');
host.send({ id, result: { roots: [`${base}/hangs/x`, `${base}/a`].map((path) => ({ uri: `file://${path}` })) } });
const echo = await host.ask('echo', { is: 'heard' });
const before = await rootNames();
await host.said('does not answer');
const after = await rootNames();
console.log(JSON.stringify({ echo, before, after, replaced: host.stderr.includes(`Directory "${base}/a"`) }));
host.process.kill('SIGKILL');
process.exit();
