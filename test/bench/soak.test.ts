// The soak in its short form. An hour of it is for a person to run (docs/performance.md).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { outcomeOf } from '../support/serve.ts';

const SOAK = fileURLToPath(new URL('../../bench/soak.mjs', import.meta.url));

it('under every load a daemon answers an honest session, and holds no more after it than before', async () => {
  const { status, out, err } = await outcomeOf(
    spawn(process.execPath, [SOAK, '--short'], { stdio: ['ignore', 'pipe', 'pipe'] }),
  );
  assert.equal(status, 0, `${out}${err}`);
  assert.match(out, /honest session: (\d{2,}) of \1 requests answered, longest wait \d+ ms\n/);
  assert.match(out, /flat: descriptors, handles, timers and memory\n$/);
});
