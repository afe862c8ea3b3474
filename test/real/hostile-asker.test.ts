// A server behind `rootsd run` that wants a grant which nobody gives it.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { list, PATIENT } from '../support/asking-home.ts';
import { type Json, RunHost } from '../support/run-host.ts';
import { ROOTSD, TestHome } from '../support/serve.ts';

const HOSTILE = fileURLToPath(new URL('../support/hostile-server.mjs', import.meta.url));
const POLICY = `roots: { a: { path: ~/a } }
rules: [{ id: q, ask: [a], servers: [filesystem], scopes: [session, always] }]`;

it('a hostile server gets no grant, and the person one question', async (t) => {
  const home = new TestHome(t, ['dir home/a']);
  home.configure(PATIENT);
  home.policy(POLICY);
  await home.serve();
  const args = ['run', '--server', 'filesystem', '--', process.execPath, HOSTILE, ROOTSD, home.socket];
  const host = new RunHost(t, { program: ROOTSD, args, env: home.env });
  await host.initialize({ elicitation: {} });
  await host.request('roots');
  const isElicitation = ({ method }: Json): boolean => method === 'elicitation/create';
  const ours = await host.next(isElicitation);
  assert.match(String(ours.id), /^rootsd-[0-9a-f]{32}-\d+$/);

  // Its own questions wait until ours is answered: the person leaves that to others, and says yes to all that follow.
  const attack = host.request('attack');
  host.send({ id: ours.id, result: { action: 'cancel' } });
  const answered = new Set([ours.id]);
  const answering = setInterval(() => {
    for (const { id } of host.messages.filter(isElicitation)) {
      if (answered.has(id)) continue;
      answered.add(id);
      host.send({ id, result: { action: 'accept', content: { answer: '8h' } } });
    }
  }, 20);
  t.after(() => clearInterval(answering));
  const { result } = (await attack) as { result: Json };
  const { accepted, told, counted, nested } = result as { accepted: number; nested: Json } & Json;
  assert.ok(accepted > 0, 'it was told what the person said to its own questions');
  assert.deepEqual([told, counted], [0, 0]);
  assert.equal(nested.asked, 0);

  const ids = host.messages.filter(isElicitation).map(({ id }) => String(id));
  assert.equal(ids.filter((id) => /^rootsd-(?!0{32})[0-9a-f]{32}-/.test(id)).length, 1);
  const { grants, history, pending } = await list(home);
  assert.deepEqual([grants, history], [[], []]);
  assert.ok(pending.length <= 64, `${pending.length} questions are open`);
});
