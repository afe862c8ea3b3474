// Preloaded into a process (`node --import`): at SIGUSR2 the disk below $FAIL_BELOW begins to fail with $FAIL_WITH, files that
// are open included, as a disk does that breaks or that the kernel makes read-only under them; at the next it works again.

import { onDiskSteps } from './disk-steps.mjs';

const code = process.env.FAIL_WITH;
let isBroken = false;

await onDiskSteps([process.env.FAIL_BELOW], (name, [path]) => {
  if (isBroken) throw Object.assign(new Error(`${code}: ${name} "${path}"`), { code, syscall: name, path });
});
process.on('SIGUSR2', () => {
  isBroken = !isBroken;
});
