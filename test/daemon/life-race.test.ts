// Many daemons that start at once, the first of which is killed in the midst of it: one serves, whichever way they lock.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { installProgram } from '../support/installed.ts';
import { needsMounts } from '../support/private-mounts.ts';
import { type Served, type StartOptions, TestHome } from '../support/serve.ts';
import { temporaryDirectory } from '../support/tree.ts';

const POLICY = 'roots: { a: { path: ~/a } }\nrules: [{ id: r, allow: [a] }]\n';
/** What cannot be run is as good as not installed. */
const NO_FLOCK = 'mount --bind /dev/null /usr/bin/flock && exec "$0" "$@"';
const NEEDS_FLOCK = !existsSync('/usr/bin/flock') && '/usr/bin/flock is not installed';

/** Each way to lock. */
const WAYS = [
  ['the native layer', { without: [] }, false],
  ['a program', { without: ['koffi'] }, NEEDS_FLOCK],
  ['a socket', { without: ['koffi'], wrap: ['unshare', '-m', 'sh', '-c', NO_FLOCK] }, NEEDS_FLOCK || needsMounts()],
] as const;

/** The first of them that serves. */
function firstStarted(daemons: readonly Served[]): Promise<Served> {
  return Promise.any(daemons.map((daemon) => daemon.logged('daemon started').then(() => daemon)));
}

describe('of twenty daemons that start at once, the first of which is killed,', () => {
  for (const [name, { without, ...how }, skip] of WAYS) {
    it(`one serves where they lock by ${name}, and the others say who`, { skip }, async (t) => {
      const program = installProgram(join(temporaryDirectory(t), 'program'), { without });
      const home = new TestHome(t, ['dir home/a']);
      home.policy(POLICY);
      const start = (count: number) =>
        Array.from({ length: count }, () => home.begin({ ...how, program } satisfies StartOptions));
      const early = start(10);
      const first = await firstStarted(early);
      first.process.kill('SIGKILL');
      const rest = [...early, ...start(10)].filter((daemon) => daemon !== first);
      await Promise.all([first.ended, ...rest.map(({ started }) => started)]);
      const [winner, ...more] = rest.filter((daemon) => daemon.count('daemon started') === 1);
      assert.ok(winner !== undefined && more.length === 0, `${more.length} more`);
      for (const daemon of rest.filter((one) => one !== winner)) {
        const { status, err } = await daemon.ended;
        assert.equal(status, 75, err);
        assert.match(err, new RegExp(`the daemon with pid (${first.pid}|${winner.pid}) already serves|another daemon`));
      }
      assert.equal(existsSync(join(home.base, 'run/lock.sock')), name === 'a socket');
      const peer = await home.peer('s');
      assert.equal((await peer.request('roots/list')).result.roots.length, 1);
      assert.equal((await winner.kill('SIGTERM')).status, 0);
    });
  }
});
