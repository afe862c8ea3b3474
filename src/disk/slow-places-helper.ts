// A process of its own that looks at places on mounts that may hang: questions come in as JSON lines, each is answered by
// one line, in order. It ends with its input. Whoever asked kills it if it takes too long.

import { createInterface } from 'node:readline';
import { answerSlowly, type SlowQuestion } from './slow-question.ts';

process.stdout.on('error', () => process.exit());
for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(answerSlowly(JSON.parse(line) as SlowQuestion))}\n`);
}
