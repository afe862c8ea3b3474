// What systemd is told of our state (sd_notify): a datagram of `NAME=value` lines to `$NOTIFY_SOCKET`.

import { spawnSync } from 'node:child_process';
import { LOG_EVENTS } from '../core/log-event.ts';
import type { Log } from './log.ts';

/** Sends one datagram; throws where it cannot. */
export type SendState = (address: string, text: string) => void;

export interface NotifyOptions {
  /** `$NOTIFY_SOCKET`; without it nobody wants to know. */
  readonly address: string | undefined;
  /** disk/native.ts `sendDatagram`; where there is none, systemd's own program sends. */
  readonly send: SendState | undefined;
  readonly log: Log;
}

/** None of these throws; of failures in a row the first is logged. `status` is one line for a person: `systemctl status` shows it. */
export interface Notify {
  /** Started, or done with a reload, be it that the reload failed: then the status says so. */
  ready(status: string): void;
  reloading(): void;
  status(status: string): void;
  /** For the manager's watchdog. */
  alive(): void;
  stopping(): void;
}

/** Opens the way to the service manager. */
export function openNotify({ address, send = sendByProgram, log }: NotifyOptions): Notify {
  let isFailing = false;
  const tell = (...lines: readonly string[]) => {
    if (address === undefined || address === '') return;
    try {
      send(address, lines.join('\n'));
      isFailing = false;
    } catch (error) {
      if (!isFailing) log('warn', LOG_EVENTS.notifyFailed, { address, error });
      isFailing = true;
    }
  };
  return {
    ready: (status) => tell('READY=1', statusLine(status)),
    reloading: () => tell('RELOADING=1', `MONOTONIC_USEC=${monotonicUsec()}`),
    status: (status) => tell(statusLine(status)),
    alive: () => tell('WATCHDOG=1'),
    stopping: () => tell('STOPPING=1'),
  };
}

/** A line break would begin a variable of its own. */
function statusLine(status: string): string {
  return `STATUS=${status.replace(/\p{Cc}+/gu, ' ')}`;
}

/** CLOCK_MONOTONIC, which hrtime() reads on Linux; systemd takes a reload as begun at that time. */
function monotonicUsec(): bigint {
  return process.hrtime.bigint() / 1_000n;
}

/** Waits for the program, or states could overtake each other. It is a child: the unit must say `NotifyAccess=all`. */
function sendByProgram(address: string, text: string): void {
  const { error, status } = spawnSync('systemd-notify', text.split('\n'), {
    env: { PATH: '/usr/bin:/bin', NOTIFY_SOCKET: address },
    stdio: 'ignore',
    timeout: 1_000,
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`systemd-notify ended with ${status}`);
}
