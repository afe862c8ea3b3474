import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ExplainedDecision } from '../../src/daemon/explain.ts';
import type { RawPeer, Reply } from '../socket/raw-peer.ts';
import { needsMounts } from '../support/private-mounts.ts';
import { TestHome } from '../support/serve.ts';

/** Mounts at `$1` a file system that nobody serves: every call there hangs. Then runs the rest. */
const HANGING = `dir=$1; shift; exec 3<>/dev/fuse
mount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 none "$dir" && exec "$@"`;

const BEFORE = `roots: { a: { path: ~/a }, b: { path: ~/b }, c: { path: ~/c } }
rules:
  - { id: all, allow: [a, b, c], access: read-write, servers: [s, t] }
`;
/** Denies a, does not grant c any more, lowers b, and names a place that hangs. */
const AFTER = `roots: { a: { path: ~/a }, b: { path: ~/b }, c: { path: ~/c }, d: { path: ~/d }, slow: { path: ~/hangs } }
rules:
  - { id: some, allow: [a, b, d], access: read-only, servers: [s, t] }
  - { id: no, deny: [~/a/secret] }
`;

/** What is told: names with their access. */
function told(message: Reply): readonly string[] {
  const { roots, boundary } = message.params ?? message.result;
  return roots.map(({ name }: { name: string }, i: number) => `${name} ${boundary[i].access}`);
}

async function untilTold(peer: RawPeer, ...wanted: readonly string[]): Promise<readonly Reply[]> {
  for (const messages: Reply[] = []; ; ) {
    const message = await peer.next();
    messages.push(message);
    if (told(message).join() === wanted.join()) return messages;
  }
}

describe('while a place of a new policy hangs', { skip: needsMounts() }, () => {
  it('only what the old and the new policy tell is told, also to who attaches; then all that the new one tells', async (t) => {
    const home = new TestHome(t, ['dir home/a', 'dir home/b', 'dir home/c', 'dir home/d', 'dir home/hangs']);
    home.policy(BEFORE);
    const wrap = ['unshare', '-m', 'sh', '-c', HANGING, 'sh', `${home.home}/hangs`];
    const daemon = await home.serveWith({ wrap });
    const first = await home.peer('s');
    const before = await first.request('rootsd/watch', {});
    assert.deepEqual(told(before), ['a read-write', 'b read-write', 'c read-write']);
    home.policy(AFTER);
    const narrowed = await untilTold(first, 'b read-only');
    assert.equal(narrowed.length, 1);
    const second = await home.peer('t');
    const attached = await second.request('rootsd/watch', {});
    assert.deepEqual(told(attached), ['b read-only']);
    const last = await untilTold(first, 'b read-only', 'd read-only');
    assert.equal(last.length, 1);
    await untilTold(second, 'b read-only', 'd read-only');
    const generations = [attached.result.generation, narrowed[0]?.params.generation, last[0]?.params.generation];
    assert.deepEqual(new Set(generations), new Set([before.result.generation, last[0]?.params.generation]));
    assert.notEqual(before.result.generation, last[0]?.params.generation);
    // What hangs is explained all the same, and holds up nobody else.
    const explained = home.json<ExplainedDecision>('explain', `${home.home}/hangs/x`, '--server', 's');
    const quick = await home.json<ExplainedDecision>('explain', `${home.home}/d/x`, '--server', 's');
    assert.deepEqual([quick.effect, quick.source], ['allow', 'daemon']);
    const { effect, why } = await explained;
    assert.deepEqual([effect, why], ['deny', 'it cannot be resolved: it lies on a file system that does not answer']);
    await daemon.kill('SIGKILL');
  });
});
