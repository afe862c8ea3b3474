/** Names of events that may appear in the log and in the audit file. What varies is a field. */
export const LOG_EVENTS = {
  started: 'daemon started',
  stopped: 'daemon stopped',
  listening: 'socket listening',
  activated: 'layer activated',
  rejected: 'layer rejected',
  degraded: 'policy degraded',
  lockdown: 'policy lockdown',
  attached: 'peer attached',
  refused: 'peer refused',
  detached: 'peer detached',
  decided: 'session list changed',
  acknowledged: 'view acknowledged',
  rootChanged: 'root changed',
  watchFallback: 'watching falls back to the sweep',
  peerFault: 'peer fault',
  peerFactsLimited: 'peer facts limited to the uid',
  reloadRequested: 'reload requested',
  bug: 'bug',
} as const;
export type LogEvent = (typeof LOG_EVENTS)[keyof typeof LOG_EVENTS];
