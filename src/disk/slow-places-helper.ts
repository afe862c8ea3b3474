// A process of its own that looks at places on mounts that may hang: questions come in as JSON lines, each is answered by
// one line, in order, after a first one that says that it has started. It ends with its input. Whoever asked kills it if it
// takes too long.

import { LineReader } from '../core/line-reader.ts';
import { READY } from './helper-ready.ts';
import { answerSlowly, type SlowQuestion } from './slow-question.ts';

/** A question is a path, or the parts of a pattern. */
const MAX_LINE_BYTES = 1024 * 1024;

process.stdout.on('error', () => process.exit());
process.stdout.write(`${READY}\n`);
const lines = new LineReader(MAX_LINE_BYTES);
for await (const chunk of process.stdin) {
  lines.push(chunk);
  for (let line = lines.next(); line !== null; line = lines.next()) {
    if (line === 'too-large') process.exit(1);
    process.stdout.write(`${JSON.stringify(answerSlowly(JSON.parse(line.toString('utf8')) as SlowQuestion))}\n`);
  }
}
