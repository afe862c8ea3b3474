import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { daemonSearch } from '../../src/lib/find-daemon.ts';

describe('daemonSearch()', () => {
  it('looks at the socket that is named, else at that of the environment', () => {
    assert.equal(daemonSearch('/a.sock', { ROOTSD_SOCKET: '/b.sock' }).explicit, '/a.sock');
    assert.equal(daemonSearch(undefined, { ROOTSD_SOCKET: '/b.sock' }).explicit, '/b.sock');
    assert.equal(daemonSearch(undefined, { ROOTSD_SOCKET: '' }).explicit, undefined);
  });

  it('looks in the directories of the user by the variables of the user', () => {
    const { runtimeVariable, stateDirectory } = daemonSearch(undefined, {
      XDG_RUNTIME_DIR: '/r',
      XDG_STATE_HOME: '/s',
    });
    assert.deepEqual([runtimeVariable, stateDirectory], ['/r', '/s/rootsd']);
    assert.equal(daemonSearch(undefined, { HOME: '/home/ana' }).stateDirectory, '/home/ana/.local/state/rootsd');
  });
});
