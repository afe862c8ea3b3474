// `rootsd mcp`: the daemon's endpoint on standard input and output, for hosts that start their servers.

import { once } from 'node:events';
import type { Socket } from 'node:net';
import { LostConnection, RefusedRequest } from '../client/connection.ts';
import { describeSearch, findSockets } from '../client/find-socket.ts';
import { type Introduction, introduce } from '../client/introduce.ts';
import { RootsError } from '../core/errors.ts';
import { EXIT, type Io } from './io.ts';
import { type LocateOptions, locateMachine, type Machine } from './machine.ts';

export interface McpOptions extends LocateOptions {
  readonly server?: string;
  readonly host?: string;
}

/** Carries bytes both ways until the host or the daemon ends. Exit 69 where the daemon goes first. */
export async function mcpCommand(options: McpOptions, io: Io): Promise<number> {
  const { server = null, host = null } = options;
  const socket = await reach(locateMachine(options, io, 'command'), { server, host });
  const hostEnded = { value: false };
  io.stdin.once('end', () => {
    hostEnded.value = true;
  });
  // A host that closes its end of our output wants no more.
  io.stdout.on('error', () => socket.destroy());
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  io.stdin.pipe(socket);
  socket.pipe(io.stdout, { end: false });
  await closed;
  if (hostEnded.value) return EXIT.yes;
  throw unreachable('it has ended the connection');
}

/** The first socket whose daemon takes us. */
async function reach({ search }: Machine, who: Introduction): Promise<Socket> {
  const found = findSockets(search);
  const reasons = found.refused.length === 0 ? [] : [describeSearch(found)];
  for (const path of found.usable) {
    try {
      return await introduce(path, who);
    } catch (error) {
      if (error instanceof RefusedRequest) throw new RootsError('USAGE', { what: error.message }, { cause: error });
      if (!(error instanceof LostConnection)) throw error;
      reasons.push(error.message);
    }
  }
  throw unreachable(reasons.join('; '));
}

function unreachable(what: string): RootsError {
  return new RootsError('DAEMON_UNREACHABLE', { what });
}
