import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { ExplainedDecision, ExplainedRoots } from '../../src/daemon/explain.ts';
import { TestHome } from '../support/serve.ts';

const PRELOAD = fileURLToPath(new URL('../support/dies-at-step.mjs', import.meta.url));
const TREE = ['dir home/web', 'dir home/src/one/.git', 'dir home/src/plain', 'dir home/.ssh', 'file home/f x'];

interface Allowed {
  readonly written: boolean;
  readonly path: string;
  readonly server: string;
  readonly decision: ExplainedDecision;
}

interface Local {
  readonly roots?: Readonly<Record<string, { readonly path: string }>>;
  readonly rules?: readonly { readonly id: string; readonly allow: readonly string[]; readonly access: string }[];
}

function localFile(home: TestHome): string {
  return join(home.directory('user'), 'local.yaml');
}

function local(home: TestHome): Local {
  return parse(readFileSync(localFile(home), 'utf8')) as Local;
}

/** Nothing is written before the command is sure of it. */
function assertUnwritten(home: TestHome): void {
  assert.equal(existsSync(localFile(home)), false);
}

describe('rootsd allow', () => {
  it('declares the root, allows the server, and shows what that does', async (t) => {
    const home = new TestHome(t, TREE);
    const { status, ...answer } = await home.json<Allowed>('allow', '~/web', '--server', 's');
    assert.equal(status, 0);
    const { written, path, server, decision } = answer;
    assert.deepEqual([written, path, server], [true, join(home.home, 'web'), 's']);
    assert.deepEqual([decision.effect, decision.access], ['allow', 'read-only']);
    const { roots, rules } = local(home);
    assert.deepEqual(roots, { web: { path: '~/web' } });
    assert.deepEqual(rules, [{ id: 'allow-s-web', allow: ['web'], servers: ['s'], access: 'read-only' }]);
    const modes = [home.directory('user'), localFile(home)].map((it) => statSync(it).mode & 0o777);
    assert.deepEqual(modes, [0o700, 0o600]);
    assert.equal((await home.command('check')).status, 0);
  });

  it('says it to people, and changes the access of what it has given', async (t) => {
    const home = new TestHome(t, TREE);
    await home.command('allow', 'home/web', '--server', 's');
    const { status, out } = await home.command('allow', './home/web/', '--server', 's', '--access', 'read-write');
    const because = 'allow read-write for s, because rule "allow-s-web" allows it';
    assert.deepEqual([status, out], [0, `${home.home}/web: ${because}\nWritten to ${localFile(home)}\n`]);
    assert.deepEqual(
      local(home).rules?.map(({ access }) => access),
      ['read-write'],
    );
  });

  it('reaches a running daemon and its peers', async (t) => {
    const home = new TestHome(t, TREE);
    await home.serve();
    const peer = await home.peer('s', { watch: true });
    await home.command('allow', '~/web', '--server', 's');
    const { params } = await peer.next();
    assert.deepEqual(
      params.roots.map(({ name }: { name: string }) => name),
      ['web'],
    );
  });

  it('gives it for a while: the end is in the file, and in what it says', async (t) => {
    const home = new TestHome(t, TREE);
    await home.command('allow', '~/web', '--server', 's');
    const before = Date.now();
    const args = ['~/web', '--server', 's', '--access', 'read-write', '--for', '2h'];
    const { status, until, decision } = await home.json<Allowed & { readonly until: string }>('allow', ...args);
    const leftMs = Date.parse(until) - before;
    assert.ok(status === 0 && leftMs > 2 * 3_600_000 - 1_001 && leftMs <= Date.now() - before + 2 * 3_600_000, until);
    assert.deepEqual([decision.access, decision.why], ['read-write', `rule "allow-s-web-2" allows it until ${until}`]);
    assert.deepEqual(
      local(home).rules?.map((rule) => (rule as { readonly until?: string }).until),
      [undefined, until],
    );
    const [again] = await Promise.all([
      home.json<{ readonly until: string | null }>('allow', '~/web', '--server', 's'),
    ]);
    assert.equal(again.until, null);
    assert.equal((await home.command('revoke', '~/web')).status, 0);
    assert.deepEqual(local(home).rules, undefined);
  });

  for (const time of ['0m', '2', '2 h', '1w', '-1h', '1.5h', '366d', '9000h']) {
    it(`refuses to give it for "${time}"`, async (t) => {
      const home = new TestHome(t, TREE);
      const { status, err } = await home.command('allow', '~/web', '--server', 's', `--for=${time}`);
      assert.equal(status, 64);
      assert.match(err, /give minutes, hours or days, as 30m, 8h or 7d, at most 365d/);
      assertUnwritten(home);
    });
  }

  it('takes out of the file what of it has ended, and leaves what something else needs', async (t) => {
    const home = new TestHome(t, [...TREE, 'dir home/b']);
    await home.command('allow', '~/web', '--server', 's', '--for', '1h');
    await home.command('allow', '~/src/plain', '--server', 's', '--for', '1h');
    const ended = readFileSync(localFile(home), 'utf8').replaceAll(/until: .*/g, 'until: 2026-01-01T00:00:00Z');
    home.put(localFile(home), ended);
    home.policy('rules: [{ id: no, deny: [web], servers: [t] }]', 'user', 'test.yaml');
    assert.equal((await home.command('explain', 'web', '--server', 's')).status, 1);
    assert.equal((await home.command('allow', '~/b', '--server', 's')).status, 0);
    assert.ok(local(home).roots?.web, 'the other file names it');
    home.policy('', 'user', 'test.yaml');
    assert.equal((await home.command('allow', '~/b', '--server', 't')).status, 0);
    assert.deepEqual(Object.keys(local(home).roots ?? {}), ['b']);
    assert.deepEqual(
      local(home).rules?.map(({ id }) => id),
      ['allow-s-b', 'allow-t-b'],
    );
  });

  it('keeps the comments of a person, the order, and the mode of the file', async (t) => {
    const home = new TestHome(t, [...TREE, 'dir home/b']);
    const text = `# mine
version: 1 # the only one
roots:
  # where I write
  b: { path: ~/b }
rules:
  - id: by-hand # do not touch
    allow: [ b ]
`;
    home.put(localFile(home), text);
    chmodSync(localFile(home), 0o644);
    assert.equal((await home.command('allow', '~/web', '--server', 's')).status, 0);
    const after = readFileSync(localFile(home), 'utf8');
    for (const line of text.split('\n')) assert.ok(after.includes(line), `${line} in ${after}`);
    assert.equal(statSync(localFile(home)).mode & 0o777, 0o644);
    assert.equal((await home.command('revoke', '~/web')).status, 0);
    assert.equal(readFileSync(localFile(home), 'utf8'), text);
  });

  it('uses a root that is declared already, also by another name for the place, and members of patterns', async (t) => {
    const home = new TestHome(t, [...TREE, 'link home/site -> web']);
    home.policy('roots: { site: { path: ~/site }, projects: { path: ~/src/*, having: [.git] } }');
    for (const [path, root] of [
      ['~/web', 'site'],
      ['~/site', 'site'],
      ['~/src/one', 'projects/one'],
      ['~/src/plain', 'plain'],
    ] as const) {
      const { decision, status } = await home.json<Allowed>('allow', path, '--server', 's');
      assert.deepEqual([status, decision.root?.name], [0, root], path);
    }
    assert.deepEqual(Object.keys(local(home).roots ?? {}), ['plain']);
  });

  it('asks a person all the same where the place is sensitive: 2', async (t) => {
    const home = new TestHome(t, TREE);
    const { decision, written, status } = await home.json<Allowed>('allow', '~/.ssh', '--server', 's');
    assert.deepEqual([status, written, decision.effect, decision.kind], [2, true, 'ask', 'pending']);
  });

  it('writes nothing that would have no effect: 1', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy('rules: [{ id: no-web, deny: [~/web], reason: Closed }]');
    const { status, out } = await home.command('allow', '~/web', '--server', 's');
    assert.equal(status, 1);
    assert.ok(out.includes('deny for s, because rule "no-web" denies it: Closed'), out);
    assert.ok(out.endsWith('Nothing written: it would have no effect\n'), out);
    assertUnwritten(home);
  });

  it('writes nothing that would make the policy wrong, or fail its own tests: 1', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy('tests: [{ claims: s, path: ~/web, expect: deny }]');
    for (const [path, message] of [
      ['~', /root must be narrower \[POLICY_WIDE_ROOT\]/],
      ['~/web', /a test expects deny, .* \[POLICY_TEST_FAILED\]/],
    ] as const) {
      const { status, out, err } = await home.command('allow', path, '--server', 's');
      assert.deepEqual([status, out], [1, '']);
      assert.match(err, message);
      assert.match(err, /nothing was written: the policy would be wrong\n$/);
      assertUnwritten(home);
    }
  });

  it('edits no policy that is broken as it is: 1', async (t) => {
    const home = new TestHome(t, TREE);
    const path = home.policy('rulse: []');
    const { status, err } = await home.command('allow', '~/web', '--server', 's');
    assert.equal(status, 1);
    assert.ok(err.includes(`${path}:2:1: `), err);
    assert.ok(err.includes('[POLICY_BROKEN]'), err);
    assertUnwritten(home);
  });

  it('names rules so that no two meet, and tells its own rules by what they say', async (t) => {
    const home = new TestHome(t, ['dir home/b-c', 'dir home/c', 'dir home/d']);
    home.policy('roots: { d: { path: ~/d } }\nrules: [{ id: allow-s-d, deny: [d], servers: [other] }]');
    const allow = (path: string, server: string, access: string): Promise<Allowed & { status: number | null }> =>
      home.json<Allowed>('allow', path, '--server', server, '--access', access);
    await allow('~/c', 'a-b', 'read-only');
    await allow('~/b-c', 'a', 'read-write');
    await allow('~/d', 's', 'read-only');
    assert.deepEqual(
      local(home).rules?.map(({ id, allow: roots, access }) => [id, roots, access]),
      [
        ['allow-a-b-c', ['c'], 'read-only'],
        ['allow-a-b-c-2', ['b-c'], 'read-write'],
        ['allow-s-d-2', ['d'], 'read-only'],
      ],
    );
  });

  it('leaves a rule alone that a person has changed', async (t) => {
    const home = new TestHome(t, TREE);
    await home.command('allow', '~/web', '--server', 's');
    const text = readFileSync(localFile(home), 'utf8').replace('access:', 'hosts: [ editor ]\n    access:');
    writeFileSync(localFile(home), text);
    await home.command('allow', '~/web', '--server', 's', '--access', 'read-write');
    assert.ok(readFileSync(localFile(home), 'utf8').startsWith(text), text);
    assert.deepEqual(
      local(home).rules?.map(({ id, access }) => [id, access]),
      [
        ['allow-s-web', 'read-only'],
        ['allow-s-web-2', 'read-write'],
      ],
    );
  });

  // Base names, each with the name that its root gets
  for (const [name, root] of [
    ['with blank', 'with-blank'],
    ['.hidden', 'hidden'],
    ['ünïcode', 'n-code'],
    ['---', 'root'],
    ['"quoted\'', 'quoted-'],
    ['a: b #c', 'a--b--c'],
    ['- x', 'x'],
    ['yes', 'yes'],
    ['null', 'null'],
    ['1.10', '1.10'],
    ['0x1f', '0x1f'],
    ['2001-01-01', '2001-01-01'],
    ['constructor', 'constructor-2'],
    ['x'.repeat(200), 'x'.repeat(60)],
    ['%41', '41'],
    ['{roots}', 'roots-'],
    ['back\\slash', 'back-slash'],
    ['&a', 'a'],
    ['!tag', 'tag'],
  ] as const) {
    it(`allows a directory with the name ${JSON.stringify(name.slice(0, 20))}`, async (t) => {
      const home = new TestHome(t);
      mkdirSync(join(home.home, name));
      const { status } = await home.json<Allowed>('allow', join(home.home, name), '--server', 's');
      assert.equal(status, 0);
      const { roots } = await home.json<ExplainedRoots>('roots', '--server', 's');
      assert.deepEqual(
        roots.map((told) => [told.name, decodeURIComponent(told.uri)]),
        [[root, `file://${home.home}/${name}`]],
      );
      const text = readFileSync(localFile(home), 'utf8');
      assert.deepEqual(parse(text, { version: '1.1' }), parse(text, { version: '1.2' }), text);
      assert.equal((await home.command('revoke', join(home.home, name))).status, 0);
      assert.deepEqual(local(home), { version: 1 });
    });
  }

  it('allows a member of a pattern whatever its name', async (t) => {
    const home = new TestHome(t);
    mkdirSync(join(home.home, 'src/my project: 1'), { recursive: true });
    home.policy('roots: { p: { path: ~/src/* } }');
    const { status, decision } = await home.json<Allowed>('allow', '~/src/my project: 1', '--server', 's');
    assert.deepEqual([status, decision.root?.name], [0, 'p/my project: 1']);
    assert.equal((await home.command('revoke', '~/src/my project: 1')).status, 0);
  });

  it('works where policies.d or local.yaml is a link, and leaves links and modes as they are', async (t) => {
    const home = new TestHome(t, [
      ...TREE,
      'dir home/dotfiles/policies.d',
      'file home/dotfiles/mine.yaml version: 1\n',
    ]);
    const directory = home.directory('user');
    const [real, file] = [join(home.home, 'dotfiles/policies.d'), join(home.home, 'dotfiles/mine.yaml')];
    chmodSync(join(home.home, 'dotfiles'), 0o755);
    chmodSync(real, 0o755);
    symlinkSync('../../dotfiles/policies.d', directory);
    assert.equal((await home.command('allow', '~/web', '--server', 's')).status, 0);
    assert.equal(lstatSync(directory).isSymbolicLink(), true);
    assert.equal(statSync(real).mode & 0o777, 0o755);

    const path = join(real, 'local.yaml');
    home.remove(path);
    symlinkSync('../mine.yaml', path);
    assert.equal((await home.command('allow', '~/web', '--server', 's')).status, 0);
    assert.equal(lstatSync(path).isSymbolicLink(), true);
    assert.match(readFileSync(file, 'utf8'), /allow-s-web/);
    assert.equal((await home.command('check')).status, 0);
  });

  it('writes nothing where others could change it', async (t) => {
    const home = new TestHome(t, TREE);
    mkdirSync(home.directory('user'));
    chmodSync(home.directory('user'), 0o777);
    const { status, err } = await home.command('allow', '~/web', '--server', 's');
    assert.equal(status, 78);
    assert.ok(err.includes(`"${home.directory('user')}" is writable by others`), err);
    assertUnwritten(home);
  });

  for (const [path, server, message] of [
    ['~/none', 's', 'there is no such directory'],
    ['~/f', 's', 'it is not a directory'],
    ['~/f/x', 's', 'Cannot use'],
    ['~/*', 's', 'there is no such directory'],
    ['~/web', 'a b', 'no policy can name a server so'],
    ['~/web', '', 'nothing is named'],
  ] as const) {
    it(`refuses ${path} for "${server}" as wrong usage: 64`, async (t) => {
      const home = new TestHome(t, TREE);
      const { status, out, err } = await home.command('allow', path, '--server', server);
      assert.deepEqual([status, out], [64, '']);
      assert.ok(err.includes(message), err);
      assertUnwritten(home);
    });
  }

  for (const name of ['*', '**', '*a', '${home}', 'x${uid}y']) {
    it(`refuses a directory that is named "${name}", which means something else in a policy`, async (t) => {
      const home = new TestHome(t);
      mkdirSync(join(home.home, name));
      const { status, err } = await home.command('allow', join(home.home, name), '--server', 's');
      assert.equal(status, 64);
      assert.match(err, /a policy would read its stars or/);
    });
  }

  it('refuses a directory whose name holds a control or bidirectional character', async (t) => {
    const home = new TestHome(t);
    for (const name of ['line\nbreak', 'left\u202eright']) {
      mkdirSync(join(home.home, name));
      const { status, err } = await home.command('allow', join(home.home, name), '--server', 's');
      assert.equal(status, 1);
      assert.match(err, /nothing was written/);
      assertUnwritten(home);
    }
  });
});

describe('rootsd allow and rootsd revoke', () => {
  it('that run at the same time wait for each other: no edit is lost', async (t) => {
    const names = Array.from({ length: 8 }, (_, i) => `d${i}`);
    const home = new TestHome(t, ['dir home/old', ...names.map((name) => `dir home/${name}`)]);
    assert.equal((await home.command('allow', '~/old', '--server', 's')).status, 0);
    const all = await Promise.all([
      home.run('revoke', '~/old'),
      ...names.map((name) => home.run('allow', `~/${name}`, '--server', 's')),
    ]);
    assert.deepEqual(new Set(all.map(({ status }) => status)), new Set([0]), all.map(({ err }) => err).join(''));
    assert.deepEqual(Object.keys(local(home).roots ?? {}).sort(), names);
  });

  it('killed at any step leave the old file or the new, and the next one nothing beside it', async (t) => {
    const home = new TestHome(t, ['dir home/a', 'dir home/b']);
    assert.equal((await home.command('allow', '~/a', '--server', 's')).status, 0);
    const old = readFileSync(localFile(home), 'utf8');
    const env = { NODE_OPTIONS: `--import=${PRELOAD}`, DIE_BELOW: home.directory('user') };
    for (let step = 1, isOver = false; !isOver; step += 1) {
      writeFileSync(localFile(home), old, { mode: 0o600 });
      const { status } = await home.runWith({ env: { ...env, DIE_AT: String(step) } }, 'allow', '~/b', '--server', 's');
      isOver = status === 0;
      assert.ok(isOver ? step > 4 : status === null, `step ${step}: ${status}`);
      const text = readFileSync(localFile(home), 'utf8');
      if (text !== old) assert.deepEqual(Object.keys(local(home).roots ?? {}), ['a', 'b'], `step ${step}`);
      assert.equal((await home.command('allow', '~/b', '--server', 's')).status, 0, `step ${step}`);
      assert.deepEqual(readdirSync(home.directory('user')), ['local.yaml'], `step ${step}`);
    }
  });
});
