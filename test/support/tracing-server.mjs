// In front of a server: keeps in a file what it is sent. Arguments: the file, and the command.

import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';

const [file, command, ...args] = process.argv.slice(2);
const server = spawn(command, args, { stdio: ['pipe', 'inherit', 'inherit'] });
process.stdin.on('data', (bytes) => {
  appendFileSync(file, bytes);
  server.stdin.write(bytes);
});
process.stdin.on('end', () => server.stdin.end());
server.on('exit', (status) => process.exit(status ?? 1));
