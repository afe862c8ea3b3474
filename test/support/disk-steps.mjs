// The steps of this process on the disk: the calls that change something below one of some directories, also sockets that
// are bound there. For what is preloaded and makes them go wrong.

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

const { readlinkSync, writeSync } = fs;

/**
 * Calls `onStep(name, paths, half)` before each step below one of the directories; `half` does the half of it, where it
 * writes. What it throws is how the call fails.
 */
export async function onDiskSteps(directories, onStep) {
  function step(name, paths, half = () => {}) {
    if (paths.some((path) => directories.some((directory) => String(path).startsWith(directory)))) {
      onStep(name, paths.map(String), half);
    }
  }

  for (const [owner, suffix] of [
    [fs, 'Sync'],
    [fs.promises, ''],
  ]) {
    const how = { isAsync: suffix === '' };
    for (const name of ['rename', 'link']) wrap(owner, name + suffix, (from, to) => step(name, [from, to]), how);
    for (const name of ['unlink', 'rm', 'mkdir', 'truncate', 'chmod'])
      wrap(owner, name + suffix, (path) => step(name, [path]), how);
    wrap(owner, `open${suffix}`, (path, flags) => changesFlags(flags) && step('create', [path]), how);
  }
  for (const name of ['ftruncate', 'fchmod', 'fsync']) wrap(fs, `${name}Sync`, (fd) => step(name, [pathOf(fd)]));
  wrap(fs, 'writeSync', (fd, data, offset = 0) => {
    step('write', [pathOf(fd)], () => writeSync(fd, data, offset, Math.floor((data.length - offset) / 2)));
  });

  const handle = await fs.promises.open('/dev/null');
  const FileHandle = Object.getPrototypeOf(handle);
  await handle.close();
  for (const name of ['sync', 'chmod', 'truncate']) {
    const before = function () {
      step(name, [pathOf(this.fd)]);
    };
    wrap(FileHandle, name, before, { isAsync: true });
  }
  const beforeWrite = function (data) {
    step('write', [pathOf(this.fd)], () => writeSync(this.fd, data.slice(0, data.length / 2)));
  };
  wrap(FileHandle, 'writeFile', beforeWrite, { isAsync: true });
  wrap(net.Server.prototype, 'listen', (options) => {
    if (typeof options?.path === 'string') step('bind', [options.path]);
  });
  syncBuiltinESMExports();
}

function wrap(owner, name, before, { isAsync = false } = {}) {
  const original = owner[name];
  owner[name] = function (...args) {
    try {
      before.apply(this, args);
    } catch (error) {
      if (isAsync) return Promise.reject(error);
      throw error;
    }
    return original.apply(this, args);
  };
}

function pathOf(fd) {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '';
  }
}

function changesFlags(flags) {
  return typeof flags === 'number' && (flags & fs.constants.O_CREAT) !== 0;
}
