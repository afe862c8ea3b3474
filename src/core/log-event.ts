/** Names of events that may appear in the log and in the audit file. What varies is a field. */
export const LOG_EVENTS = {
  started: 'daemon started',
  stopped: 'daemon stopped',
  listenerLeftOut: 'listener left out',
  socketLost: 'socket lost',
  descriptorsShort: 'descriptors run out, new connections wait',
  descriptorsFree: 'descriptors are free again',
  listening: 'socket listening',
  activated: 'layer activated',
  configRead: 'configuration read',
  configRejected: 'configuration rejected',
  rejected: 'layer rejected',
  lockdown: 'policy lockdown',
  attached: 'peer attached',
  refused: 'peer refused',
  detached: 'peer detached',
  hostRoots: 'host roots told',
  decided: 'session list changed',
  rootChanged: 'root changed',
  mountChanged: 'mount changed',
  watchFallback: 'watching falls back to the sweep',
  peerFault: 'peer fault',
  peerFactsLimited: 'peer facts limited to the uid',
  reloadRequested: 'reload requested',
  lastGoodRefused: 'last good state refused',
  lastGoodLost: 'last good state not kept',
  endpointLost: 'endpoint file not written',
  stateWritten: 'state file written again',
  auditLost: 'audit line lost',
  auditResumed: 'audit goes on',
  auditRepaired: 'audit file repaired',
  notifyFailed: 'service manager not told',
  bug: 'bug',
} as const;
export type LogEvent = (typeof LOG_EVENTS)[keyof typeof LOG_EVENTS];

/** The gravest first. */
export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
