// What the daemon knows of servers: from the catalogue that comes with it, from servers.yaml, from the policy.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { describe, it } from 'node:test';
import { readPlanFirst } from '../../src/client/plan-first.ts';
import { startsEarly } from '../../src/core/plan-first.ts';
import type { LaunchPlan } from '../../src/core/protocol.ts';
import { connectPeer } from '../socket/raw-peer.ts';
import { TestHome } from '../support/serve.ts';

interface Served {
  readonly home: TestHome;
  /** The plan of what starts this command. */
  readonly planOf: (command: string, server?: string) => Promise<LaunchPlan>;
}

async function serve(
  t: Parameters<typeof connectPeer>[0],
  { servers, policy }: { servers?: string; policy?: string },
): Promise<Served> {
  const home = new TestHome(t);
  if (servers !== undefined) home.put(catalogueOf(home), servers);
  if (policy !== undefined) home.policy(policy);
  await home.serve();
  return {
    home,
    async planOf(command, server) {
      const peer = await connectPeer(t, home.socket);
      const launch = { argv: command.split(' '), cwd: '/' };
      const { result } = await peer.request('rootsd/attach', { version: 1, server: server ?? null, launch });
      return (result as { plan: LaunchPlan }).plan;
    },
  };
}

function catalogueOf(home: TestHome): string {
  return `${home.home}/.config/rootsd/servers.yaml`;
}

describe('the catalogue of servers', () => {
  it('gives the plan of a server its traits by the command line', async (t) => {
    const { planOf } = await serve(t, {});
    const { channels, tools, empty } = await planOf('npx -y @modelcontextprotocol/server-memory');
    const value = { form: 'template', template: '{primary}/memory.jsonl' };
    assert.deepEqual(channels, [{ kind: 'env', name: 'MEMORY_FILE_PATH', value }]);
    assert.deepEqual([tools.read_graph, tools.create_entities, empty], ['read', 'write', 'tombstone']);
    assert.deepEqual((await planOf('what-is-this')).channels, [{ kind: 'roots' }, { kind: 'argv' }]);
    const commander = await planOf('npx -y @wonderwhy-er/desktop-commander');
    assert.equal(commander.empty, 'stop');
  });

  it('is overridden by servers.yaml, and both by the policy', async (t) => {
    const { planOf } = await serve(t, {
      servers:
        'version: 1\nservers: { m: { title: M, match: { npm: ["@modelcontextprotocol/server-memory"] }, channels: [cwd], paths: [a] } }\n',
      policy: 'servers: { s: { channels: [{ kind: env, name: A, json: true }], paths: [b] } }\n',
    });
    const command = 'npx -y @modelcontextprotocol/server-memory';
    assert.deepEqual((await planOf(command)).channels, [{ kind: 'cwd' }]);
    const { channels, paths } = await planOf(command, 's');
    assert.deepEqual(channels, [{ kind: 'env', name: 'A', value: { form: 'json' } }]);
    assert.deepEqual(paths, ['a', 'b']);
  });

  it('reaches live sessions when servers.yaml is saved; a broken one changes nothing and is said', async (t) => {
    const { home } = await serve(t, {});
    const peer = await connectPeer(t, home.socket);
    const launch = { argv: ['mine'], cwd: '/' };
    await peer.request('rootsd/attach', { version: 1, server: 's', launch });
    await peer.request('rootsd/watch');
    const entry = (channels: string) =>
      `version: 1\nservers: { m: { title: M, match: { command: [mine] }, ${channels} } }\n`;
    const nextPlan = async (): Promise<LaunchPlan> => ((await peer.next()).params as { plan: LaunchPlan }).plan;

    home.put(catalogueOf(home), entry('channels: [cwd]'));
    assert.deepEqual((await nextPlan()).channels, [{ kind: 'cwd' }]);
    // Written once everybody has been told.
    const isEarly = () => startsEarly(readPlanFirst(home.socket) ?? assert.fail(), { server: null, argv: ['mine'] });
    while (isEarly()) await new Promise((resolve) => setTimeout(resolve, 10));

    home.put(catalogueOf(home), entry('chanels: [argv]'));
    const refused = await home.command('reload');
    assert.equal(refused.status, 1);
    assert.match(refused.out + refused.err, /servers\.yaml.*chanels/);
    const status = await home.json<{ state: string; problems: { code: string }[] }>('status');
    assert.deepEqual([status.state, status.problems.map(({ code }) => code)], ['degraded', ['SCHEMA_UNKNOWN_KEY']]);

    home.put(catalogueOf(home), entry('channels: [argv]'));
    assert.deepEqual((await nextPlan()).channels, [{ kind: 'argv' }], 'nothing was told in between');
    assert.equal((await home.json<{ state: string }>('status')).state, 'ok');
  });

  it('is what comes with us again where servers.yaml is removed', async (t) => {
    const servers =
      'version: 1\nservers: { m: { title: M, match: { npm: ["@modelcontextprotocol/server-memory"] }, channels: [cwd] } }\n';
    const { home, planOf } = await serve(t, { servers });
    rmSync(catalogueOf(home));
    assert.equal((await home.command('reload')).status, 0);
    assert.equal((await planOf('npx @modelcontextprotocol/server-memory')).channels[0]?.kind, 'env');
  });

  it('says beside the socket which servers wait for their plan, as long as the daemon runs', async (t) => {
    const home = new TestHome(t);
    home.policy('servers: { s: { channels: [cwd] } }\n');
    const daemon = await home.serve();
    const early = (server: string | null, command: string): boolean => {
      const first = readPlanFirst(home.socket);
      assert.ok(first);
      return startsEarly(first, { server, argv: command.split(' ') });
    };
    assert.deepEqual([early('s', 'x'), early('t', 'x')], [false, true]);
    assert.deepEqual([early(null, 'npx @modelcontextprotocol/server-memory'), early(null, 'npx x')], [false, true]);
    home.policy('servers: { t: { channels: [cwd] } }\n');
    await home.command('reload', '--wait');
    assert.deepEqual([early('s', 'x'), early('t', 'x')], [true, false]);
    await daemon.kill('SIGTERM');
    assert.equal(readPlanFirst(home.socket), null);
  });

  it('that is broken lets no daemon start, and check says where', async (t) => {
    const home = new TestHome(t);
    home.put(catalogueOf(home), 'version: 1\nservers: { m: { title: M } }\n');
    const { status, err } = await (await home.serve()).ended;
    assert.equal(status, 78);
    assert.match(err, /servers\.yaml".*has no "match"/);
    const checked = await home.command('check');
    assert.equal(checked.status, 1);
    assert.match(checked.out, /servers\.yaml:2:12: error: "m" has no "match" \[SCHEMA_MISSING_KEY\]/);
  });

  it('lets explain say what carries the boundary, from the daemon and from the files', async (t) => {
    const { home } = await serve(t, {
      policy:
        'servers: { dc: { command: "npx -y @wonderwhy-er/desktop-commander" }, x: { command: x, channels: [env] }, g: { command: mcp-server-git }, off: { guard: off } }\n',
    });
    const [dc, x, g, off] = await Promise.all(
      ['dc', 'x', 'g', 'off'].map((server) => home.json<Record<string, unknown>>('explain', '--server', server)),
    );
    const file = `config ${home.home}/.claude-server-commander/config.json (allowedDirectories)`;
    assert.deepEqual([dc?.source, dc?.channel], ['daemon', `${file}, argv where its command line has placeholders`]);
    const said = [dc?.warnings, dc?.unenforced].flat();
    assert.ok(said.includes('An empty list means the whole disk to it: where nothing is allowed it is stopped'));
    assert.ok(said.includes('A list that it cannot use means the whole disk to it'));
    assert.ok(said.includes('Its terminal tools ignore the list'));
    assert.ok(
      [x?.unenforced].flat().includes('Channel "env" carries nothing: neither the policy nor the catalogue says how'),
    );
    const relative = 'Relative paths in tool calls pass, unless they hold "..": what they mean is not known';
    assert.deepEqual(
      [dc, x, g, off].map((one) => [one?.unenforced].flat().includes(relative)),
      [true, true, false, false],
    );
    const human = await home.command('explain', '--server', 'dc');
    assert.match(human.out, /^channel {2}config .*allowedDirectories/m);
    assert.match(human.out, /^not enforced: Its terminal tools ignore the list$/m);
  });
});
