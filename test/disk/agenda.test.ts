import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Agenda } from '../../src/disk/agenda.ts';
import { FakeClock } from '../support/clock.ts';

describe('Agenda', () => {
  it('calls once for what is due, at the earliest of its times', async () => {
    const clock = new FakeClock();
    const calls: string[] = [];
    const agenda = new Agenda<string>(clock, (due) => calls.push(`${clock.now()} ${due.join('+')}`));
    agenda.add('a', 50);
    agenda.add('b', 30);
    agenda.add('a', 10);
    agenda.add('a', 40);
    agenda.add('c', 30);
    agenda.add('d', 30);
    agenda.remove('d');
    await clock.advance(100);
    agenda.add('e', 90);
    await clock.advance(0);
    assert.deepEqual(calls, ['10 a', '30 b+c', '100 e']);
  });

  it('calls no more once it is closed', async () => {
    const clock = new FakeClock();
    const agenda = new Agenda<string>(clock, () => assert.fail('called'));
    agenda.add('a', 10);
    agenda.close();
    await clock.advance(100);
  });
});
