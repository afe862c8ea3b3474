// Sockets that a service manager has opened for us (sd_listen_fds(3)).

export interface InheritedSocket {
  readonly fd: number;
  /** `peers`, `control` or a listener's name. */
  readonly name: string;
}

/** The first inherited descriptor. */
const FIRST_FD = 3;
/** What systemd calls a socket whose unit gives it no name, besides the name of the unit. */
const UNNAMED = new Set(['', 'unknown', 'rootsd.socket']);

/** The sockets that were passed to this process; one without a name is that of the peers. */
export function inheritedSockets(env: Readonly<Record<string, string | undefined>>, pid: number): InheritedSocket[] {
  // Meant for another process: a parent of ours that did not clear its environment.
  if (Number(env.LISTEN_PID) !== pid) return [];
  const count = Number(env.LISTEN_FDS);
  if (!Number.isInteger(count) || count < 1) return [];
  const names = (env.LISTEN_FDNAMES ?? '').split(':');
  return Array.from({ length: count }, (_, i) => {
    const name = names[i] ?? '';
    return { fd: FIRST_FD + i, name: UNNAMED.has(name) ? 'peers' : name };
  });
}
