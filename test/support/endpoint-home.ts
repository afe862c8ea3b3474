// What the tests of the endpoint have in common: a daemon with some of everything.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { TestHome } from './serve.ts';

const TREE = [
  'file home/app/a.ts hello',
  'dir home/app/sub',
  'file home/other/secret no',
  'link home/app/leak -> ../other/secret',
  'link home/app/out -> ../other',
  'link home/app/in -> sub',
  'fifo home/app/pipe',
];
export const POLICY = `roots:
  app: { path: ~/app, title: The App }
  other: { path: ~/other }
  closed: { path: ~/closed }
servers: { special: {} }
rules:
  - { id: app, allow: [app], access: read-write }
  - { id: other, ask: [other] }
  - { id: special, allow: [other], servers: [special] }
  - { id: closed, deny: [~/closed], reason: Closed for ever }
`;

/** A daemon that serves these. */
export async function served(t: TestContext): Promise<TestHome> {
  const home = new TestHome(t, TREE);
  writeFileSync(join(home.home, 'app/sub/é b#%.txt'), 'text');
  home.policy(POLICY);
  await home.serve();
  return home;
}

export function uriOf(home: TestHome, path: string): string {
  return `file://${home.home}/${path}`;
}
