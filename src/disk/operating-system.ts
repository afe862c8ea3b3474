import type os from 'node:os';

/** node:os, loaded when it is first asked: `rootsd run`, which starts with each server, seldom has to. */
export function operatingSystem(): typeof os {
  return process.getBuiltinModule('node:os');
}
