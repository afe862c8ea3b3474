// A home whose policy asks, and what a test does with the questions.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { ConsentReply } from '../../src/daemon/consent-rows.ts';
import type { RawPeer } from '../socket/raw-peer.ts';
import { TestHome } from './serve.ts';

/** For a test that takes its time. */
export const PATIENT = 'consent: { timeout: 1h }\n';
const TREE = ['dir home/a', 'dir home/b'];
export const ROOTS = 'roots: { a: { path: ~/a, title: A }, b: { path: ~/b, title: B } }\n';
export const ASKS = `${ROOTS}rules: [{ id: q, ask: [a], access: read-write, scopes: [session, 8h, always], reason: because }]`;

/** `config`: more of rootsd.yaml; of many questions none must be over before its turn comes. */
export async function served(t: TestContext, policy = ASKS, config = '', tree: readonly string[] = []) {
  const home = new TestHome(t, [...TREE, ...tree]);
  home.configure(config);
  home.policy(policy);
  const daemon = await home.serve();
  return { home, daemon };
}

/** The names in a peer's list; being asked for it, the daemon asks a person. */
export async function listed(peer: RawPeer): Promise<readonly string[]> {
  peer.send({ jsonrpc: '2.0', id: 'list', method: 'roots/list' });
  let reply = await peer.next();
  while (reply.id !== 'list') reply = await peer.next();
  return reply.result.roots.map(({ name }: { readonly name: string }) => name);
}

export function list(home: TestHome): Promise<ConsentReply & { readonly status: number | null }> {
  return home.json<ConsentReply>('consent', 'list');
}

export async function onlyQuestion(home: TestHome): Promise<ConsentReply['pending'][number]> {
  const { pending } = await list(home);
  assert.equal(pending.length, 1);
  return pending[0] ?? assert.fail();
}
