// Preloaded into a process (`node --import`), which then dies by SIGKILL right before its $DIE_AT-th step on the disk, or
// in the middle of it where it writes. Steps are the calls that change something below one of $DIE_BELOW (a list like
// PATH), also sockets that are bound there. With $DIE_AT=0 it lives and appends its steps to $STEPS_FILE.

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

const below = (process.env.DIE_BELOW ?? '').split(':');
const fatal = Number(process.env.DIE_AT);
const stepsFile = process.env.STEPS_FILE;
const { appendFileSync, readlinkSync, writeSync } = fs;
let steps = 0;

/** Counts a step on these paths, and dies where it is the one. */
function step(name, paths, half = () => {}) {
  if (!paths.some((path) => below.some((directory) => String(path).startsWith(directory)))) return;
  steps += 1;
  if (fatal === 0) appendFileSync(stepsFile, `${name} ${paths.map(String).join(' ')}\n`);
  if (steps !== fatal) return;
  half();
  process.kill(process.pid, 'SIGKILL');
}

function pathOf(fd) {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '';
  }
}

const changesFlags = (flags) => typeof flags === 'number' && (flags & fs.constants.O_CREAT) !== 0;

function wrap(owner, name, before) {
  const original = owner[name];
  owner[name] = function (...args) {
    before.call(this, ...args);
    return original.apply(this, args);
  };
}

for (const [owner, suffix] of [
  [fs, 'Sync'],
  [fs.promises, ''],
]) {
  for (const name of ['rename', 'link']) wrap(owner, name + suffix, (from, to) => step(name, [from, to]));
  for (const name of ['unlink', 'rm', 'mkdir', 'truncate', 'chmod'])
    wrap(owner, name + suffix, (path) => step(name, [path]));
  wrap(owner, `open${suffix}`, (path, flags) => changesFlags(flags) && step('create', [path]));
}
for (const name of ['ftruncate', 'fchmod', 'fsync']) wrap(fs, `${name}Sync`, (fd) => step(name, [pathOf(fd)]));
wrap(fs, 'writeSync', (fd, data, offset = 0) => {
  step('write', [pathOf(fd)], () => writeSync(fd, data, offset, Math.floor((data.length - offset) / 2)));
});

const handle = await fs.promises.open('/dev/null');
const FileHandle = Object.getPrototypeOf(handle);
await handle.close();
for (const name of ['sync', 'chmod', 'truncate']) {
  wrap(FileHandle, name, function () {
    step(name, [pathOf(this.fd)]);
  });
}
wrap(FileHandle, 'writeFile', function (data) {
  step('write', [pathOf(this.fd)], () => writeSync(this.fd, data.slice(0, data.length / 2)));
});
wrap(net.Server.prototype, 'listen', (options) => {
  if (typeof options?.path === 'string') step('bind', [options.path]);
});
syncBuiltinESMExports();
