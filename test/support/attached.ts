// Many sessions of src/client in this process, as hosts and libraries open them.

import type { TestContext } from 'node:test';
import { type Attachment, attach } from '../../src/client/attach.ts';

/** A session and what it was told since it began. */
export interface Attached {
  readonly attachment: Attachment;
  /** Names of the roots of each view, in order. */
  readonly told: (readonly string[])[];
}

/** Opens so many sessions, of servers s0, s1 and so on. */
export function attachMany(t: Pick<TestContext, 'after'>, socket: string, count: number): Promise<readonly Attached[]> {
  return Promise.all(Array.from({ length: count }, (_, i) => attachOne(t, socket, `s${i}`)));
}

async function attachOne(t: Pick<TestContext, 'after'>, socket: string, server: string): Promise<Attached> {
  const told: (readonly string[])[] = [];
  const attachment = await attach({
    sockets: () => [socket],
    params: { version: 1, server },
    onView: (view) => {
      told.push(view.roots.map(({ name }) => name));
      attachment.ack(view);
    },
  });
  t.after(() => attachment.close());
  return { attachment, told };
}

/** Waits until each of them has been told something since it began. */
export async function untilTold(sessions: readonly Attached[], times = 1): Promise<void> {
  while (sessions.some(({ told }) => told.length < times)) await new Promise((resolve) => setTimeout(resolve, 10));
}
