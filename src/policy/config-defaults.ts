/** What rootsd.yaml means where it is silent, as one would write it there. config/rootsd.yaml shows the same values. */
export const CONFIG_DEFAULTS = {
  systemLayer: '/etc/rootsd/policies.d',
  userLayer: '~/.config/rootsd/policies.d',
  listenerMode: '0600',
  message: '4MiB',
  sessions: 4096,
  queue: '1MiB',
  logLevel: 'info',
  auditFile: 'audit.jsonl',
  auditSize: '10MiB',
  auditKeep: 5,
  consentTimeout: '60s',
  consentChannels: ['host', 'agent', 'desktop'],
} as const;
