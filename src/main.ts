// argv in, exit status out. `rootsd run` does not come here: bin/rootsd starts run/main.ts.

import { runCli } from './commands/cli.ts';

// A reader that goes away (`rootsd status | head -1`) is no fault of ours, and must not end a daemon.
process.stdout.on('error', () => {});
const status = await runCli(process.argv.slice(2), process);
// Output into a pipe is written asynchronously: leave when all of it has been taken.
process.stdout.write('', () => process.exit(status));
