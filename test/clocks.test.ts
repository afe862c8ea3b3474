// The wall clock can be set. It may be shown and written down; nothing waits by it or ends by it.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const SRC = fileURLToPath(new URL('../src', import.meta.url));

/** Who reads the wall clock, and why that may be. */
const READERS: Readonly<Record<string, string>> = {
  'commands/allow.ts':
    'the end that a rule gets is a moment for people; the daemon ends it also by the time that passes',
  'commands/evaluate-files.ts': 'since when a layer is in force is shown',
  'commands/revoke.ts': 'rules of ours that have ended are tidied away',
  'commands/serve-screen.ts': 'the time of a change is shown',
  'commands/serve.ts': 'since when the daemon, a layer or a session is there is shown; lines of the audit carry a time',
  'disk/clock.ts': 'compared with the times of the disk alone, to tell a change that its next look could miss',
  'disk/moment.ts': 'a consent ends by whichever clock says so first: a wall clock that is set can only end it',
  'run/person.ts':
    'how long a question is shown at most: the daemon, which waits by no wall clock, takes it back before',
  'system/log.ts': 'lines of the log carry a time',
};

test('the wall clock is read only where this table says why', () => {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const readers = files.filter((file) => /\bDate\.now\b|\bnew Date\(\)/.test(readFileSync(join(SRC, file), 'utf8')));
  assert.deepEqual(readers.sort(), Object.keys(READERS).sort());
});
