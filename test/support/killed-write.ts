// A program that dies by SIGKILL before a given step of writeDurably(): killed-write.ts PATH DATA STEP
import { writeDurably } from '../../src/disk/durable-write.ts';

const [path = '', data = '', fatal] = process.argv.slice(2);
await writeDurably(path, data, {
  onStep: (step) => {
    if (step === fatal) process.kill(process.pid, 'SIGKILL');
  },
});
