import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RealPath } from '../../src/core/path.ts';
import type { Observed } from '../../src/core/peer.ts';
import { runAtOnce } from '../../src/core/steps.ts';
import type { ToldView } from '../../src/core/told-view.ts';
import { Sessions } from '../../src/daemon/sessions.ts';
import type { AttachedSession } from '../../src/socket/authority.ts';
import type { Log } from '../../src/system/log.ts';
import { evidenceFrom, layerFrom } from '../support/policy.ts';

interface Publication {
  readonly told: ToldView;
  readonly serial: number;
  readonly listChanged: boolean;
}

class FakeSession implements AttachedSession {
  readonly id: string;
  readonly since = 0;
  readonly state = { era: 'legacy' as const, watching: true, listed: false, told: null, waitingBytes: 0 };
  readonly published: Publication[] = [];

  constructor(id: string) {
    this.id = id;
  }

  observe(): Observed | null {
    return null;
  }

  ask(): void {}

  publish(told: ToldView, options: { readonly serial: number; readonly listChanged: boolean }): void {
    this.published.push({ told, ...options });
  }

  decided(): void {
    assert.fail('no call waits');
  }
}

function inForce(generation: string, allowed: string) {
  const text = `roots: { a: { path: ~/a }, b: { path: ~/b } }\nrules: [{ id: r, allow: [${allowed}], servers: [s] }]`;
  const layers = [layerFrom(text)];
  const roots = evidenceFrom(layers).roots.map((root) => {
    const path = `/home/ana/${root.name}` as RealPath;
    return { ...root, place: { path, identity: root.name } };
  });
  const evidence = evidenceFrom(layers, { roots });
  return { evidence, generation, policyState: 'ok', catalogue: [] } as const;
}

function observed(pid: number, exe = '/usr/bin/node'): Observed {
  const parent = { pid: pid + 1, startTime: `${pid}`, exe: '/usr/bin/code' };
  return { pid, startTime: `${pid}`, exe, user: { uid: 1000 }, gid: 1000, parent };
}

function open() {
  const recorded: { readonly event: string; readonly fields: Readonly<Record<string, unknown>> }[] = [];
  const record: Log = (_level, event, fields = {}) => void recorded.push({ event, fields });
  const grants = { consentsOf: () => ({ answerTo: () => null }), keyOf: () => null };
  const options = { record, version: '0', policyDirectories: [], grants, now: () => 0 };
  const sessions = new Sessions(inForce('a1', 'a'), options);
  const attach = (pid: number, exe?: string) => {
    const session = new FakeSession(`s${pid}`);
    return { session, ...runAtOnce(sessions.attach({ version: 1, server: 's' }, observed(pid, exe), session)) };
  };
  const changes = () => recorded.filter(({ event }) => event === 'session list changed').map(({ fields }) => fields);
  const attaching = (pid: number) => {
    const session = new FakeSession(`s${pid}`);
    return { session, steps: sessions.attach({ version: 1, server: 's' }, observed(pid), session) };
  };
  return { sessions, attach, attaching, changes };
}

describe('Sessions', () => {
  it('decides once for all peers of whom the same is known, and tells them the same', () => {
    const { sessions, attach } = open();
    const peers = [1, 2, 3].map((pid) => attach(pid));
    const other = attach(4, '/usr/bin/other');
    assert.deepEqual(
      peers.map(({ peer }) => peer.pid),
      [1, 2, 3],
    );
    assert.ok(peers.every(({ told }) => told === peers[0]?.told));
    assert.notEqual(other.told, peers[0]?.told);
    runAtOnce(sessions.refreshInSteps(inForce('b2', 'b')));
    const [first, ...rest] = peers.map(({ session }) => session.published);
    assert.deepEqual([first?.length, first?.[0]?.serial, first?.[0]?.listChanged], [1, 2, true]);
    for (const published of rest) assert.equal(published[0]?.told, first?.[0]?.told);
    assert.equal(other.session.published.length, 1);
  });

  it('counts views for each session, and acknowledges each for itself', () => {
    const { sessions, attach } = open();
    const early = attach(1);
    runAtOnce(sessions.refreshInSteps(inForce('b2', 'b')));
    const late = attach(2);
    runAtOnce(sessions.refreshInSteps(inForce('c3', 'a')));
    assert.deepEqual([early.session.published.at(-1)?.serial, late.session.published.at(-1)?.serial], [3, 2]);
    assert.equal(sessions.acknowledge(early.session, { generation: 'c3', serial: 2 }), false);
    assert.equal(sessions.acknowledge(early.session, { generation: 'c3', serial: 3 }), true);
    assert.equal(sessions.acknowledge(late.session, { generation: 'c3', serial: 2 }), true);
  });

  it('tells a newcomer the generation in force, and those nothing whose view is as it was', () => {
    const { sessions, attach } = open();
    const early = attach(1);
    runAtOnce(sessions.refreshInSteps(inForce('b2', 'a')));
    const late = attach(2);
    assert.deepEqual([early.session.published, early.told.generation, late.told.generation], [[], 'a1', 'b2']);
    assert.equal(sessions.acknowledge(early.session, { generation: 'a1' }), true);
    assert.equal(sessions.acknowledge(late.session, { generation: 'b2' }), true);
  });

  it('tells the last list also to who comes and who goes while others are told', () => {
    const { sessions, attach } = open();
    const peers = [attach(1), attach(2, '/usr/bin/other')];
    const steps = sessions.refreshInSteps(inForce('b2', 'b'));
    while (peers[0]?.session.published.length === 0) steps.next();
    // Of the second kind nobody has been told yet.
    const [late, gone] = [attach(3, '/usr/bin/other'), attach(4, '/usr/bin/third')];
    sessions.closed(gone.session);
    runAtOnce(steps);
    const lists = [...peers, late].map(({ session, told }) => (session.published.at(-1)?.told ?? told).listJson);
    assert.deepEqual(new Set(lists).size, 1);
    assert.ok(lists[0]?.includes('/b'), lists[0]);
    assert.deepEqual(gone.session.published, []);
  });

  it('writes one line for all that are alike, with the first hundred of them and how many more there are', () => {
    const { sessions, attach, changes } = open();
    const [alone] = [attach(1_000, '/usr/bin/other'), ...Array.from({ length: 103 }, (_, i) => attach(i))];
    runAtOnce(sessions.refreshInSteps(inForce('b2', 'b')));
    const [one, many] = changes();
    assert.deepEqual([one?.sessions, one?.peer, one?.omittedSessions], [['s1000'], alone?.peer, undefined]);
    const hundred = Array.from({ length: 100 }, (_, i) => `s${i}`);
    assert.deepEqual([many?.sessions, many?.omittedSessions], [hundred, 3]);
    assert.deepEqual(many?.peer, { ...alone?.peer, exe: '/usr/bin/node', pid: null });
    assert.deepEqual([changes().length, many?.generation], [2, 'b2']);
  });

  it('lets others have a turn between two sessions, alike or not', () => {
    const { sessions, attach } = open();
    const peers = [1, 2, 3].map((pid) => attach(pid));
    const heard = () => peers.filter(({ session }) => session.published.length > 0).length;
    const seen = [0];
    for (const _ of sessions.refreshInSteps(inForce('b2', 'b'))) if (heard() !== seen.at(-1)) seen.push(heard());
    assert.deepEqual(seen, [0, 1, 2, 3]);
  });

  it('tells the last list also to those that change among others that are alike and are being told', () => {
    const { sessions, attach, changes } = open();
    const [first, gone, separate] = [attach(1), attach(2), attach(3)];
    const steps = sessions.refreshInSteps(inForce('b2', 'b'));
    while (first.session.published.length === 0) steps.next();
    sessions.closed(gone.session);
    sessions.separate(new Set([separate.session.id]));
    const late = attach(4);
    runAtOnce(steps);
    const lists = [first, separate, late].map(({ session, told }) => (session.published.at(-1)?.told ?? told).listJson);
    assert.deepEqual(new Set(lists).size, 1);
    assert.ok(lists[0]?.includes('/b'), lists[0]);
    const published = [gone, separate, late].map(({ session }) => session.published.length);
    assert.deepEqual(published, [0, 1, 0]);
    assert.deepEqual(
      changes().map(({ sessions: ids }) => ids),
      [['s1', 's3']],
    );
  });

  it('lets others have a turn between two roots while somebody comes, who is no session before the last', () => {
    const { sessions, attaching } = open();
    const { steps } = attaching(1);
    for (let turns = 0; turns < 4; turns += 1) assert.deepEqual([steps.next().done, sessions.count], [false, 0]);
    const { told } = runAtOnce(steps);
    assert.ok(told.listJson.includes('/a'), told.listJson);
    assert.equal(sessions.count, 1);
  });

  it('tells the list in force to those who come while another comes into force, at whichever step', () => {
    const last = (steps: Iterator<void, { readonly told: ToldView }>, session: FakeSession) => {
      const { told } = runAtOnce(steps);
      return session.published.at(-1)?.told ?? told;
    };
    for (let before = 0; before < 20; before += 1) {
      for (let during = 0; during < 20; during += 1) {
        const { sessions, attach, attaching } = open();
        // One of them is alike and goes meanwhile.
        const known = attach(1);
        const { session, steps } = attaching(2);
        const refresh = sessions.refreshInSteps(inForce('b2', 'b'));
        let ended = false;
        const done: { told: ToldView }[] = [];
        const step = (count: number) => {
          for (let i = 0; i < count && !ended; i += 1) {
            const { done: isDone, value } = steps.next();
            if (isDone) done.push(value);
            ended = isDone === true;
          }
        };
        step(before);
        for (let i = 0; i < during; i += 1) refresh.next();
        step(1);
        sessions.closed(known.session);
        runAtOnce(refresh);
        const first = ended ? done[0]?.told : null;
        const told = first ? (session.published.at(-1)?.told ?? first) : last(steps, session);
        assert.ok(told.listJson.includes('/b'), `${before} ${during}: ${told.listJson}`);
        runAtOnce(sessions.refreshInSteps(inForce('c3', 'a')));
        assert.equal(session.published.at(-1)?.told.generation, 'c3', `${before} ${during}`);
      }
    }
  });

  it('has two who are alike and come at the same time among those it tells the same', () => {
    const { sessions, attaching } = open();
    const [one, other] = [attaching(1), attaching(2)];
    one.steps.next();
    other.steps.next();
    const told = [one, other].map(({ steps }) => runAtOnce(steps).told);
    assert.equal(told[0], told[1]);
    runAtOnce(sessions.refreshInSteps(inForce('b2', 'b')));
    assert.deepEqual(
      [one, other].map(({ session }) => session.published.length),
      [1, 1],
    );
  });

  it('forgets who has closed', () => {
    const { sessions, attach } = open();
    const [one, two] = [attach(1), attach(2)];
    sessions.closed(one.session);
    runAtOnce(sessions.refreshInSteps(inForce('b2', 'b')));
    assert.deepEqual([one.session.published.length, two.session.published.length, sessions.count], [0, 1, 1]);
    sessions.closed(two.session);
    sessions.closed(two.session);
    assert.equal(sessions.count, 0);
  });
});
