// The least that Node can do for a host: one line in, one line out. Stays until its input ends.
process.stdin.once('data', (line) => process.stdout.write(line.toString().replace(/"method":.*/s, '"result":{}}\n')));
