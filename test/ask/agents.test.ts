import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Agents } from '../../src/ask/agents.ts';
import type { TakeAnswer } from '../../src/core/question.ts';
import { questionOf } from '../support/consents.ts';

function agent(more: { readonly uid?: number; readonly isFallback?: boolean } = {}) {
  const told: string[] = [];
  const asked = ({ id }: { readonly id: string }) => told.push(`asked ${id}`);
  const withdrawn = ({ id }: { readonly id: string }, why: string) => told.push(`withdrawn ${id}: ${why}`);
  return { uid: 1000, isFallback: false, ...more, asked, withdrawn, told };
}

const TAKE = async () => null;
const IGNORED = () => undefined;

describe('Agents', () => {
  it('tells all of them each question, those before they came too, until they leave', () => {
    const agents = new Agents();
    const [one, two] = [agent(), agent()];
    agents.join(one);
    agents.present(questionOf(), TAKE, IGNORED);
    agents.join(two);
    agents.withdraw(questionOf(), 'it is answered');
    agents.leave(one);
    agents.present(questionOf({ id: 'q2' }), TAKE, IGNORED);
    assert.deepEqual(one.told, ['asked q1', 'withdrawn q1: it is answered']);
    assert.deepEqual(two.told, ['asked q1', 'withdrawn q1: it is answered', 'asked q2']);
  });

  it('tells one that is a fallback only what is open while there is no other', () => {
    const agents = new Agents();
    const [fallback, first, second] = [agent({ isFallback: true }), agent(), agent()];
    agents.join(first);
    agents.join(fallback);
    agents.present(questionOf(), TAKE, IGNORED);
    agents.join(second);
    agents.leave(first);
    assert.deepEqual(fallback.told, []);
    agents.leave(second);
    assert.deepEqual(fallback.told, ['asked q1']);
    agents.join(first);
    assert.deepEqual(fallback.told, ['asked q1', 'withdrawn q1: another agent asks now']);
  });

  it('does not bother a user with what an admin must answer', () => {
    const agents = new Agents();
    const [user, root] = [agent(), agent({ uid: 0 })];
    agents.join(user);
    agents.join(root);
    agents.present(questionOf({ approver: 'admin' }), TAKE, IGNORED);
    assert.deepEqual([user.told, root.told], [[], ['asked q1']]);
  });

  it('shows a question as long as somebody is there who may answer it, and says when nobody is', () => {
    const agents = new Agents();
    const [user, fallback, root] = [agent(), agent({ isFallback: true }), agent({ uid: 0 })];
    const [asked, ofAdmin] = [questionOf(), questionOf({ id: 'q2', approver: 'admin' })];
    const hidden: string[] = [];
    for (const question of [asked, ofAdmin]) agents.present(question, TAKE, () => hidden.push(question.id));
    const shown = () => [asked, ofAdmin].filter((question) => agents.shows(question)).map(({ id }) => id);
    assert.deepEqual(shown(), []);
    for (const one of [user, fallback]) agents.join(one);
    assert.deepEqual(shown(), ['q1']);
    agents.leave(user);
    assert.deepEqual(shown(), ['q1'], 'the one that is a fallback is in charge now');
    agents.join(root);
    assert.deepEqual(shown(), ['q1', 'q2']);
    hidden.length = 0;
    agents.leave(root);
    assert.deepEqual(hidden, ['q2']);
    agents.leave(fallback);
    assert.ok(hidden.includes('q1'));
  });

  it('has a limit', () => {
    const agents = new Agents();
    const all = Array.from({ length: 16 }, () => agent());
    for (const one of all) agents.join(one);
    assert.throws(() => agents.join(agent()), { code: 'CONTROL_FULL' });
    agents.leave(all[0] ?? assert.fail());
    agents.join(agent());
  });

  it('takes an answer by the id of a question that is open', async () => {
    const agents = new Agents();
    const take: TakeAnswer = async ({ says }, uid) => ({ scope: `${says} ${uid}`, access: 'read-only' });
    agents.present(questionOf(), take, IGNORED);
    assert.deepEqual(await agents.answer('q1', { says: 'yes' }, 7), { scope: 'yes 7', access: 'read-only' });
    agents.withdraw(questionOf(), 'it is answered');
    await assert.rejects(agents.answer('q1', { says: 'yes' }, 7), { code: 'CONSENT_UNKNOWN' });
  });
});
