// Calls that the host has been answered by the questions they wait for, and may never make again.
import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { describe, it } from 'node:test';
import { unrefTimer } from '../../src/client/timer.ts';
import type { HostAnswer, HostQuestion } from '../../src/core/protocol.ts';
import { ByteSink } from '../../src/run/bytes.ts';
import { InsideQuestions } from '../../src/run/inside-questions.ts';
import { LineWriter } from '../../src/run/line-writer.ts';
import { OwnIds, OwnRequests } from '../../src/run/own-requests.ts';
import { Person } from '../../src/run/person.ts';
import { WaitingCalls } from '../../src/run/waiting-calls.ts';
import type { Json } from '../support/run-host.ts';

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
};

function questionOf(id: string): HostQuestion {
  return { id, text: id, scopes: ['session'], until: '2100-01-01T00:00:00.000Z' };
}

function lineOf(id: number, more: Json = {}): Buffer {
  const params = { name: 't', arguments: { id }, ...more, _meta: META };
  return Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })}\n`);
}

function opened(count: number) {
  const sent: Json[] = [];
  const host = new LineWriter(
    new ByteSink(
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          for (const line of chunk.toString().trim().split('\n')) sent.push(JSON.parse(line) as Json);
          done();
        },
      }),
    ),
  );
  const [answers, ended, passed] = [[] as HostAnswer[], [] as number[], [] as Json[]];
  let idle = 0;
  const own = new OwnRequests(new OwnIds(), unrefTimer);
  const person = new Person({
    host,
    own,
    answer: (answer) => answers.push(answer),
    onIdle: () => {
      idle += 1;
    },
  });
  const calls = new WaitingCalls({
    host,
    person,
    inside: new InsideQuestions(host, person),
    asks: {
      request: async ({ call }) => ({
        state: 'asked',
        serial: 1,
        questions: [{ id: `q${call}`, root: 'a', access: 'read-only' }],
      }),
      callEnded: ({ call }) => ended.push(call),
      holds: () => true,
      onAsked: () => undefined,
      onForms: () => undefined,
    },
    goOn: (line) => {
      passed.push(JSON.parse(line.toString()) as Json);
      return 'passed';
    },
  });
  person.update(Array.from({ length: count }, (_, i) => questionOf(`q${i + 1}`)));
  const add = async (id: number): Promise<boolean> => {
    const isAdded = calls.add(lineOf(id), { method: 'tools/call', id: String(id) }, []);
    await new Promise((resolve) => setImmediate(resolve));
    return isAdded;
  };
  const stateOf = (id: number): string => {
    const { result } = sent.find((message) => message.id === id) ?? assert.fail();
    return (result as { readonly requestState: string }).requestState;
  };
  return { calls, person, add, stateOf, answers, ended, passed, idleTimes: () => idle };
}

describe('WaitingCalls, those that are at the host', () => {
  it('make room for others, the oldest first; what comes of such a one later is judged as any other, without our state', async () => {
    const { calls, add, stateOf, ended, answers } = opened(101);
    for (let id = 1; id <= 101; id += 1) assert.equal(await add(id), true, `call ${id}`);
    assert.deepEqual(ended, [1]);
    const requestState = stateOf(1);
    const again = lineOf(200, { inputResponses: { 'rootsd-q1': { action: 'accept' } }, requestState });
    assert.equal(String(calls.takeBack(again, '200')), String(lineOf(200)));
    assert.deepEqual(answers, []);
    assert.equal(calls.takeBack(lineOf(201, { requestState: 'of the server' }), '201'), null);
  });

  it('do not make room for those that wait elsewhere: of these there are a hundred', async () => {
    const { add } = opened(0);
    for (let id = 1; id <= 100; id += 1) assert.equal(await add(id), true);
    assert.equal(await add(101), false);
  });

  it('go on when they are made again, whatever was decided meanwhile', async () => {
    const { calls, add, stateOf, passed, answers, person, idleTimes } = opened(1);
    await add(1);
    assert.equal(person.isAsked, true);
    calls.decided({ call: 1, state: 'granted', serial: 1 });
    assert.deepEqual(passed, []);
    const before = idleTimes();
    person.update([]);
    assert.deepEqual([person.isAsked, idleTimes() > before], [false, true]);
    assert.equal(calls.takeBack(lineOf(2, { requestState: stateOf(1) }), '2'), 'taken');
    assert.deepEqual(
      passed.map(({ id, params }) => [id, Object.keys(params as Json)]),
      [[2, ['name', 'arguments', '_meta']]],
    );
    assert.deepEqual(answers, [{ id: 'q1', says: 'pass' }]);
  });

  it('end with what the host says', async () => {
    const { calls, add, ended } = opened(2);
    for (const id of [1, 2]) await add(id);
    const isDone = await new Promise((resolve) => calls.end(() => resolve(true)));
    assert.deepEqual([isDone, ended], [true, [1, 2]]);
  });
});
