import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { noticeSlowPlaces } from '../../src/daemon/slow-places-notice.ts';
import { makeTree } from '../support/tree.ts';

test('noticeSlowPlaces() names each directory on a mount that may hang, once, also behind a link', (t) => {
  const base = makeTree(t, ['dir net/state', 'dir local', 'link policies.d -> net/policies.d', 'file mountinfo']);
  const lines = ['1 0 8:1 / / rw - ext4 /dev/sda1 rw', `2 1 0:40 / ${base}/net rw - nfs4 server:/export rw`];
  writeFileSync(`${base}/mountinfo`, `${lines.join('\n')}\n`);
  const said: unknown[] = [];
  const directories = [`${base}/policies.d`, `${base}/local`, `${base}/net/state`, `${base}/net/state`];
  noticeSlowPlaces(directories, (...line) => said.push(line), { file: `${base}/mountinfo` });
  const mount = { mount: `${base}/net`, type: 'nfs4' };
  assert.deepEqual(said, [
    ['warn', 'directory on a mount that may hang', { path: `${base}/policies.d`, ...mount }],
    ['warn', 'directory on a mount that may hang', { path: `${base}/net/state`, ...mount }],
  ]);
});
