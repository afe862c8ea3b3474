// docs/protocol.md must be true: its conversations are replayed. The authority and the handlers give what the page says they
// give; everything else – order, framing, texts of errors – is the code's.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { RootsError } from '../../src/core/errors.ts';
import { METHOD } from '../../src/core/protocol.ts';
import type { AttachedSession } from '../../src/socket/authority.ts';
import { Capacity } from '../../src/socket/capacity.ts';
import { openControl } from '../../src/socket/control.ts';
import type { ControlConnection, ControlHandler } from '../../src/socket/control-session.ts';
import { temporaryDirectory } from '../support/tree.ts';
import { LIMITS, openTestPeers, toldOf } from './open-test-peers.ts';
import { connectPeer, type RawPeer, type Reply } from './raw-peer.ts';

const page = readFileSync(new URL('../../docs/protocol.md', import.meta.url), 'utf8');

interface Line {
  readonly direction: '>' | '<';
  readonly text: string;
}

/** The conversations with one of the sockets. */
function conversations(socket: string): readonly (readonly Line[])[] {
  const blocks = [...page.matchAll(/^```jsonl (\w+)[^\n]*\n(.*?)^```$/gms)].filter(([, name]) => name === socket);
  return blocks.map(([, , body = '']) =>
    body
      .trimEnd()
      .split('\n')
      .map((line) => ({ direction: line[0] as Line['direction'], text: line.slice(2) })),
  );
}

/** Sends what the page sends; `onNotice` makes happen what the daemon tells by itself. */
async function replay(peer: RawPeer, lines: readonly Line[], onNotice: (notice: Reply) => void): Promise<void> {
  for (const { direction, text } of lines) {
    if (direction === '>') {
      peer.write(`${text}\n`);
      continue;
    }
    const expected = JSON.parse(text) as Reply;
    if (expected.method !== undefined) onNotice(expected);
    const reply = await peer.next();
    // Each session gets an id of its own.
    if (expected.result?.session !== undefined) expected.result.session = reply.result.session;
    assert.deepEqual(reply, expected);
  }
}

function replies(lines: readonly Line[]): readonly Reply[] {
  return lines.filter(({ direction }) => direction === '<').map(({ text }) => JSON.parse(text) as Reply);
}

test('the conversations of docs/protocol.md with the socket of peers are true', async (t) => {
  for (const lines of conversations('peers')) {
    const { path, authority } = await openTestPeers(t);
    const results = replies(lines).flatMap(({ result }) => (result === undefined ? [] : [result]));
    const attached = results.find((result) => 'session' in result);
    const view = results.find((result) => 'view' in result) ?? {
      ...authority.view,
      roots: attached?.roots,
      plan: attached?.plan,
    };
    let session: AttachedSession | undefined;
    // biome-ignore lint/correctness/useYield: it takes one step.
    authority.attach = function* (_params, _observed, attaching) {
      session = attaching;
      return { peer: attached?.peer, told: toldOf({ ...view, ...attached }) };
    };
    authority.accessReply = results.find((result) => 'state' in result) ?? authority.accessReply;
    const peer = await connectPeer(t, path);
    await replay(peer, lines, ({ method, params }) => {
      if (method === METHOD.questions) return session?.ask(params.questions);
      if (method === METHOD.decided) return session?.decided(params);
      const { serial } = method === METHOD.view ? params : view;
      session?.publish(toldOf(method === METHOD.view ? params : view), { serial, listChanged: true });
    });
    const notified = lines.filter(
      ({ direction, text }) => direction === '>' && /"rootsd\/(ack|hostRoots|report|refused|callEnded)"/.test(text),
    );
    if (notified.length === 0) continue;
    await peer.request('rootsd/watch');
    const { acknowledgements, hostRootsSeen, reports, refusedCalls, endedCalls } = authority;
    assert.deepEqual(
      [acknowledgements, hostRootsSeen, reports, refusedCalls, endedCalls].map(({ length }) => length),
      [1, 1, 1, 1, 1],
    );
  }
});

test('the conversations of docs/protocol.md with the control socket are true', async (t) => {
  for (const lines of conversations('control')) {
    const answers = replies(lines).filter(({ method }) => method === undefined);
    let connection: ControlConnection | undefined;
    const answer: ControlHandler = async (_params, _caller, asking) => {
      connection = asking;
      const { result, error } = answers.shift() ?? {};
      if (error !== undefined) throw new RootsError('USAGE', { what: error.message });
      return result;
    };
    const handlers = Object.fromEntries(Object.values(METHOD).map((method) => [method, answer]));
    const path = join(temporaryDirectory(t), 'control.sock');
    const control = await openControl({
      at: { path },
      limits: LIMITS,
      capacity: new Capacity(LIMITS),
      handlers,
      native: null,
      log: () => {},
    });
    t.after(() => control.close());
    await replay(await connectPeer(t, path), lines, ({ method = '', params }) => connection?.notify(method, params));
  }
});

test('docs/protocol.md has an example of every message', () => {
  const shown = [...conversations('peers'), ...conversations('control')].flat().map(({ text }) => text);
  for (const method of Object.values(METHOD)) {
    assert.ok(
      shown.some((text) => text.includes(`"method":"${method}"`)),
      method,
    );
  }
});
