import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SessionRoom } from '../../src/socket/session-room.ts';

function occupants(ended: string[]) {
  return (name: string, since = 0) => ({ since, destroy: () => void ended.push(name) });
}

test('of more silent connections than the limit the oldest goes, each once', () => {
  const ended: string[] = [];
  const [room, occupant] = [new SessionRoom(2), occupants(ended)];
  for (const name of ['a', 'b', 'c', 'd']) room.enter(occupant(name));
  assert.deepEqual(ended, ['a', 'b']);
});

test('an attached session is never ended for a new one', () => {
  const ended: string[] = [];
  const [room, occupant] = [new SessionRoom(1), occupants(ended)];
  const attached = occupant('a');
  room.enter(attached);
  room.attach(attached);
  assert.equal(room.refusal()?.code, 'PEER_SESSIONS_FULL');
  for (const name of ['b', 'c']) room.enter(occupant(name));
  room.dropLongSilent(1_000_000);
  assert.deepEqual(ended, ['b', 'c']);
  room.leave(attached);
  assert.equal(room.refusal(), null);
});

test('connections of other users take the place of none of ours', () => {
  const ended: string[] = [];
  const [room, occupant] = [new SessionRoom(1), occupants(ended)];
  room.enter(occupant('ours'));
  for (let i = 0; i < 20; i += 1) room.enterRefused(occupant(`theirs ${i}`));
  assert.deepEqual(ended, ['theirs 0', 'theirs 1', 'theirs 2', 'theirs 3']);
  assert.equal(room.refusal(), null);
});

test('where there is no room those that have been silent for long go, and no others', () => {
  const ended: string[] = [];
  const [room, occupant] = [new SessionRoom(10), occupants(ended)];
  room.enter(occupant('old', 5_000));
  room.enter(occupant('young', 5_001));
  room.dropLongSilent(6_000);
  assert.deepEqual(ended, ['old']);
});
