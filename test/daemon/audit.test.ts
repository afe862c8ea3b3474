import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { connectPeer } from '../socket/raw-peer.ts';
import { TestHome } from '../support/serve.ts';
import { auditFiles, verifyAudit } from '../support/verify-audit.ts';

const TREE = ['dir home/a'];
const POLICY = `roots: { a: { path: ~/a } }
servers: { one: { command: [npx, x] }, two: { command: [npx] } }
rules: [{ id: allow-a, allow: [a], servers: [s] }]
`;

interface Line {
  readonly seq: number;
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at what is there.
  readonly [field: string]: any;
}

function auditPath(home: TestHome): string {
  return join(home.home, '.local/state/rootsd/audit.jsonl');
}

function lines(home: TestHome, event?: string): readonly Line[] {
  const text = auditFiles(auditPath(home), 10).map((path) => readFileSync(path, 'utf8'));
  const all = text
    .join('')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  return event === undefined ? all : all.filter((line) => line.event === event);
}

describe('the audit of the daemon', () => {
  it('has one line for each attach, refusal, change of a list and activation, and its chain holds', async (t) => {
    const home = new TestHome(t, TREE);
    const file = home.policy(POLICY);
    const daemon = await home.serve();
    await home.peer('s', { watch: true });
    const ambiguous = await connectPeer(t, home.socket);
    await ambiguous.request('rootsd/attach', { version: 1, server: null, launch: { argv: ['npx', 'x'], cwd: '/' } });

    rmSync(join(home.home, 'a'), { recursive: true });
    await daemon.logged('session list changed');
    home.policy('rules: [');
    await daemon.logged('layer rejected');
    home.policy(`${POLICY}# good again`);
    await daemon.logged('layer activated', 2);
    await daemon.kill('SIGTERM');

    assert.deepEqual(
      lines(home).map(({ event }) => event),
      [
        'layer activated',
        'daemon started',
        'peer attached',
        'peer refused',
        'session list changed',
        'layer rejected',
        'layer activated',
        'daemon stopped',
      ],
    );
    const [activated] = lines(home, 'layer activated');
    assert.deepEqual([activated?.layer, activated?.files], ['user', [file]]);
    const [attached] = lines(home, 'peer attached');
    assert.deepEqual(
      [attached?.peer.server, attached?.peer.class, attached?.peer.uid, attached?.changes],
      [
        's',
        'claimed',
        process.getuid?.(),
        [
          {
            path: `${home.home}/a`,
            root: 'a',
            from: null,
            to: 'read-only',
            rule: 'allow-a',
            why: 'rule "allow-a" allows it',
          },
        ],
      ],
    );
    const [refused] = lines(home, 'peer refused');
    assert.match(JSON.stringify(refused), /PEER_AMBIGUOUS/);
    const [changed] = lines(home, 'session list changed');
    const { why, ...change } = changed?.changes[0] ?? {};
    assert.deepEqual(change, { path: `${home.home}/a`, root: 'a', from: 'read-only', to: null, rule: 'allow-a' });
    assert.match(why, /not exist/);
    assert.deepEqual([changed?.sessions, changed?.peer], [[attached?.session], attached?.peer]);
    const [rejected] = lines(home, 'layer rejected');
    assert.ok(rejected?.problems[0].startsWith(`${file}:2:`), rejected?.problems[0]);

    assert.deepEqual(verifyAudit([auditPath(home)]), { ok: true, lines: 8 });
    const text = readFileSync(auditPath(home), 'utf8');
    writeFileSync(auditPath(home), text.replace('"allow-a"', '"allow-b"'));
    const verdict = verifyAudit([auditPath(home)]);
    assert.deepEqual([verdict.ok, 'line' in verdict && verdict.line], [false, 4]);
  });

  it('names the first hundred changes of a list, and how many more there were', async (t) => {
    const names = Array.from({ length: 103 }, (_, i) => `r${i}`);
    const home = new TestHome(
      t,
      names.map((name) => `dir home/${name}`),
    );
    const roots = names.map((name) => `${name}: { path: ~/${name} }`).join(', ');
    home.policy(`roots: { ${roots} }\nrules: [{ id: all, allow: [${names}] }]\n`);
    const daemon = await home.serve();
    await home.peer('s', { watch: true });
    home.policy(`roots: { ${roots} }\nrules: [{ id: all, allow: [${names.slice(0, 3)}] }]\n`);
    const logged = await daemon.logged('session list changed');
    const [attached] = lines(home, 'peer attached');
    const [changed] = lines(home, 'session list changed');
    for (const [line, first, omitted] of [
      [attached, 'r0', 3],
      [changed, 'r3', undefined],
      [logged, 'r3', undefined],
    ] as const) {
      const changes = line?.changes as { root: string }[];
      assert.deepEqual([changes.length, changes[0]?.root, line?.omitted], [100, first, omitted]);
    }
  });

  it('writes nothing where nothing changes for a session', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(POLICY);
    const daemon = await home.serve();
    const peer = await home.peer('s');
    for (let i = 0; i < 20; i += 1) await peer.request('roots/list');
    home.policy(`# a comment\n${POLICY}`);
    await daemon.logged('layer activated', 2);
    assert.deepEqual(lines(home, 'session list changed'), []);
  });

  it('goes on with its chain after a restart, also after a crash in the middle of a line', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(POLICY);
    await (await home.serve()).kill('SIGTERM');
    await (await home.serve()).kill('SIGKILL');
    appendFileSync(auditPath(home), '{"seq":99,"time":"20');
    const daemon = await home.serve();
    assert.equal(daemon.count('audit file repaired'), 1);
    await daemon.kill('SIGTERM');
    const verdict = verifyAudit([auditPath(home)]);
    assert.deepEqual([verdict.ok, lines(home, 'daemon started').length], [true, 3]);
  });

  it('is rotated by size; what is kept is one chain, and no file is larger', async (t) => {
    const home = new TestHome(t, TREE);
    home.configure('audit: { size: 4KiB, keep: 3 }\n');
    home.policy(POLICY);
    await home.serve();
    for (let i = 0; i < 60; i += 1) await home.peer(`server-${i}`);
    const files = auditFiles(auditPath(home), 3);
    assert.equal(files.length, 4);
    assert.equal(existsSync(`${auditPath(home)}.4`), false);
    for (const path of files) assert.ok(statSync(path).size <= 4096, path);
    const all = lines(home);
    assert.deepEqual(verifyAudit(files), { ok: true, lines: all.length });
    assert.equal(all.at(-1)?.peer.server, 'server-59');
  });

  it('lies where rootsd.yaml says', async (t) => {
    const home = new TestHome(t, TREE);
    home.configure(`audit: { file: ${home.base}/log/record.jsonl }\n`);
    home.policy(POLICY);
    await (await home.serve()).kill('SIGTERM');
    assert.equal(verifyAudit([join(home.base, 'log/record.jsonl')]).ok, true);
  });
});
