// Preloaded into a process (`node --import`), which then dies by SIGKILL right before its $DIE_AT-th step on the disk below
// one of $DIE_BELOW (a list like PATH), or in the middle of it where it writes. With $DIE_AT=0 it lives and appends its
// steps to $STEPS_FILE.

import { appendFileSync } from 'node:fs';
import { onDiskSteps } from './disk-steps.mjs';

const fatal = Number(process.env.DIE_AT);
const stepsFile = process.env.STEPS_FILE;
let steps = 0;

await onDiskSteps((process.env.DIE_BELOW ?? '').split(':'), (name, paths, half) => {
  steps += 1;
  if (fatal === 0) appendFileSync(stepsFile, `${name} ${paths.join(' ')}\n`);
  if (steps !== fatal) return;
  half();
  process.kill(process.pid, 'SIGKILL');
});
