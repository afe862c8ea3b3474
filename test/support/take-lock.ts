// Takes a lock of settings again and again, and ends at some point as by kill -9: mostly while it has it. As long as it has
// it, a file beside says so; two that have it at once are told on standard output.
import { readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { identifyProcess } from '../../src/run/processes.ts';
import { alone } from '../../src/run/settings-lock.ts';

const [lock = '', rounds = ''] = process.argv.slice(2);

/** What is left of one that was killed is no sign of it. */
function enter(): void {
  try {
    writeFileSync(`${lock}-held`, String(process.pid), { flag: 'wx' });
  } catch {
    const other = Number(readFileSync(`${lock}-held`, 'utf8'));
    if (other !== process.pid && identifyProcess(other) !== null)
      console.log(`${process.pid} and ${other} have it at once`);
    writeFileSync(`${lock}-held`, String(process.pid));
  }
}

const end = Math.floor(Math.random() * Number(rounds));
for (let round = 0; ; round++) {
  await alone(lock, async () => {
    enter();
    if (round === end) process.kill(process.pid, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 2));
    unlinkSync(`${lock}-held`);
  });
}
