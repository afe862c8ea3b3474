// `npm run fuzz [TARGET...] [-- --cases N --seed S]`: the targets one after the other, each with N cases (policies, which
// take a hundred times as long, a tenth). Exit status 1 where a promise is broken.
import { parseArgs } from 'node:util';
import { fuzzSockets } from './fuzz-sockets.ts';
import { fuzzTarget } from './fuzz-target.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    cases: { type: 'string', default: '500000' },
    seed: { type: 'string', default: String(Date.now() % 1e6) },
  },
});
const cases = Number(values.cases);
const seed = Number(values.seed);

const TARGETS = {
  uris: () => fuzzTarget('uris', { cases, seed }),
  messages: () => fuzzTarget('messages', { cases, seed }),
  policies: () => fuzzTarget('policies', { cases: Math.ceil(cases / 10), seed }),
  sockets: () => fuzzSockets({ cases, seed }),
} as const;

for (const name of positionals.length > 0 ? positionals : Object.keys(TARGETS)) {
  const run = TARGETS[name as keyof typeof TARGETS];
  if (run === undefined) throw new RangeError(`There is no target "${name}": ${Object.keys(TARGETS).join(', ')}`);
  const { ok, text } = await run();
  console.log(text);
  if (!ok) process.exitCode = 1;
}
