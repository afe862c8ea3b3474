// argv in, exit status out. `run` branches off before anything else is loaded: it stands in front of every server.

const argv = process.argv.slice(2);
if (argv[0] === 'run') {
  const { runMain } = await import('./run/main.ts');
  await runMain(argv.slice(1), { binRootsd: process.argv[1] ?? '' });
} else {
  // A reader that goes away (`rootsd status | head -1`) is no fault of ours, and must not end a daemon.
  process.stdout.on('error', () => {});
  const { runCli } = await import('./commands/cli.ts');
  const status = await runCli(argv, process);
  // Output into a pipe is written asynchronously: leave when all of it has been taken.
  process.stdout.write('', () => process.exit(status));
}
