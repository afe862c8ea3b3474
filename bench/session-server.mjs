// What the daemon puts together for its sessions, with log and audit, but for the watching of files: on the Unix socket of
// the argument, for serve-roots.mjs.
import { createWriteStream } from 'node:fs';
import { fromSource } from './from-source.mjs';
import { answerParent, NAMES } from './measured-server.mjs';

const [, , path] = process.argv;
const parts = await fromSource({
  peers: 'src/socket/peers.ts',
  capacity: 'src/socket/capacity.ts',
  sessions: 'src/daemon/sessions.ts',
  record: 'src/daemon/record.ts',
  compile: 'src/policy/compile-layer.ts',
  policy: 'src/core/policy.ts',
  evidence: 'src/core/evidence.ts',
  tests: 'src/core/run-tests.ts',
  native: 'src/disk/native.ts',
  slices: 'src/disk/slices.ts',
  log: 'src/system/log.ts',
  audit: 'src/state/audit.ts',
});

function inForce(names, generation) {
  const roots = `roots: { ${NAMES.map((name) => `${name}: { path: ~/repos/${name} }`).join(', ')} }`;
  const text = `version: 1\n${roots}\nrules: [{ id: work, allow: [${names}], servers: [filesystem] }]\n`;
  const files = [{ path: '/home/ana/.config/rootsd/policies.d/work.yaml', text }];
  const expansions = { home: '/home/ana', user: 'ana', uid: 1000, hostname: 'here' };
  const { policy: layer } = parts.compile.compileLayer({ layer: 'user', files, expansions, upper: [] });
  const policy = parts.policy.composePolicy([layer]);
  const facts = policy.roots.map((root, i) => ({
    ...parts.tests.writtenRoot(root),
    place: { path: `/home/ana/repos/${root.name}`, identity: `2050:${i}:1764450000000000000` },
  }));
  const evidence = parts.evidence.gatherEvidence(policy, { roots: facts, resolved: new Map() });
  return { evidence, generation, policyState: 'ok', catalogue: [] };
}

const generations = [inForce(NAMES.slice(0, 3), 'a1'), inForce(NAMES.slice(1), 'b2')];
const { log } = parts.log.openLog({ level: 'info', stream: createWriteStream('/dev/null') });
const audit = parts.audit.openAudit({
  path: `${path}.audit/audit.jsonl`,
  sizeBytes: 10 * 2 ** 20,
  keep: 1,
  owner: { uid: process.getuid() },
  log,
  now: () => new Date(),
});
const record = parts.record.auditedLog(log, audit);
const sessions = new parts.sessions.Sessions(generations[0], {
  record,
  version: '0',
  policyDirectories: ['/etc/rootsd/policies.d'],
  now: Date.now,
});
const limits = { message: 4 * 2 ** 20, queue: 2 ** 20, sessions: 4_096 };
await parts.peers.openPeers({
  at: { path },
  limits,
  capacity: new parts.capacity.Capacity(limits),
  authority: {
    attach: sessions.attach.bind(sessions),
    acknowledged: sessions.acknowledge.bind(sessions),
    hostRoots() {},
    closed: sessions.closed.bind(sessions),
  },
  native: await parts.native.openNative(),
  log: record,
  now: Date.now,
});

let changes = 0;
answerParent(() => {
  changes += 1;
  void parts.slices.runInSlices(sessions.refreshInSteps(generations[changes % 2]), () => false);
});
