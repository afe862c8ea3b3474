import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { outcomeOf, ROOTSD, TestHome } from '../support/serve.ts';

/** Commands that read something, each with what it needs to have a result. */
const READING: readonly string[] = [
  'check',
  'test',
  'schema',
  'explain --server s',
  'roots --server s',
  'resolve /',
  'status',
  'sessions',
  'reload',
  'version',
];

describe('rootsd', () => {
  it('says its version', async (t) => {
    const home = new TestHome(t);
    const { status, out } = await home.run('version');
    assert.equal(status, 0);
    assert.match(out, /^rootsd \d+\.\d+\.\d+\S* \(Node v\d+\.\d+\.\d+\)\n$/);
    const { version = '', node } = JSON.parse((await home.run('version', '--json')).out) as Record<string, string>;
    assert.deepEqual([out, node], [`rootsd ${version} (Node ${process.version})\n`, process.version]);
    assert.equal((await home.run('--version')).out, `${version}\n`);
  });

  it('helps: what there is, and what a command takes', async (t) => {
    const home = new TestHome(t);
    for (const args of [['--help'], ['help'], ['help', 'reload'], ['reload', '--help']]) {
      const { status, out, err } = await home.command(...args);
      assert.deepEqual([status, err], [0, ''], args.join(' '));
      assert.ok(out.includes(args.includes('reload') ? '--accept-empty' : 'explain'), out);
    }
  });

  it('helps with run, which another file serves', async (t) => {
    const [help, own] = await Promise.all(
      [
        ['help', 'run'],
        ['run', '--help'],
      ].map((args) => new TestHome(t).run(...args)),
    );
    assert.deepEqual([help?.status, help?.out], [0, own?.out]);
    assert.match(help?.out ?? '', /--stdio pipe/);
  });

  it('prints JSON with --json, whatever it reads', async (t) => {
    const home = new TestHome(t, ['dir home/a']);
    home.policy('roots: { a: { path: ~/a } }\nrules: [{ id: r, allow: [a] }]\n');
    await home.serve();
    for (const args of READING) {
      for (const option of [['--json'], ['--format', 'json']]) {
        const { status, out, err } = await home.command(...args.split(' '), ...option);
        assert.deepEqual([status, err], [0, ''], args);
        assert.ok(typeof JSON.parse(out) === 'object', args);
        assert.ok(out.endsWith('}\n') || out.endsWith(']\n'), args);
      }
    }
  });

  it('lets "check" speak to GitHub and in SARIF', async (t) => {
    const home = new TestHome(t);
    home.policy('rulse: []');
    assert.match((await home.command('check', '--format', 'github')).out, /^::error file=/);
    assert.equal(JSON.parse((await home.command('check', '--format', 'sarif')).out).version, '2.1.0');
  });

  for (const [args, message] of [
    ['', 'Usage: rootsd'],
    [
      'explian --server s',
      'Cannot read the command line: unknown command "explian" [USAGE]\n  Did you mean explain?\n',
    ],
    ['bogus', 'unknown command "bogus"'],
    ['status --wach', 'Did you mean --watch?'],
    ['status now', 'too many arguments'],
    ['roots', 'give --server NAME or --claims NAME'],
    ['roots --server s --claims s', 'give --server NAME or --claims NAME'],
    ['roots --server', 'option "--server <NAME>" argument missing'],
    ['check --format xml', 'Allowed choices are human, json, github, sarif'],
    ['check none.yaml', 'it is not there'],
    ['schema nothing', 'it must be one of policy, config, servers, project'],
    ['resolve', 'no path is given'],
    ['allow x', 'required option "--server <NAME>" not specified'],
    ['allow --server s', 'missing required argument "path"'],
    ['allow . --server s --access write', 'Allowed choices are read-only, read-write'],
    ['revoke', 'missing required argument "path"'],
    ['serve --idle-exit soon', 'it must be like 30s, 10m or 1h'],
    ['serve --idle-exit 0s', 'it must be like 30s, 10m or 1h'],
    ['serve --system', '--system is not built yet'],
    ['check --config none/rootsd.yaml', 'none/rootsd.yaml'],
  ] as const) {
    it(`refuses "${args}" as wrong usage: 64`, async (t) => {
      const { status, out, err } = await new TestHome(t).command(...args.split(' ').filter((word) => word !== ''));
      assert.deepEqual([status, out], [64, '']);
      assert.ok(err.includes(message), err);
    });
  }

  it('refuses a command line as a process too: 64, and nothing on standard output', async (t) => {
    const { status, out, err } = await new TestHome(t).run('explian', '--server', 's');
    assert.deepEqual([status, out], [64, '']);
    assert.ok(err.includes('Did you mean explain?'), err);
  });
});

/** A home with so many roots that their list has more than a megabyte. */
function manyRoots(t: TestContext): TestHome {
  const home = new TestHome(t);
  for (let i = 0; i < 2_500; i += 1) mkdirSync(join(home.home, 'm', `${i}-${'x'.repeat(60)}`), { recursive: true });
  home.policy('roots: { m: { path: ~/m/* } }\nrules: [{ id: all, allow: [m] }]\n');
  return home;
}

function shell(home: TestHome, script: string, ...args: readonly string[]) {
  return outcomeOf(home.start(args, { wrap: ['sh', '-c', script] }));
}

describe('the output of rootsd', () => {
  it('reaches a slow reader of a pipe whole, more than a megabyte', async (t) => {
    const home = manyRoots(t);
    const all = await home.command('explain', '--server', 's', '--json');
    assert.equal(all.out.length > 1_000_000, true);
    const { out } = await shell(home, '"$0" "$@" | { sleep 1; cat; }', 'explain', '--server', 's', '--json');
    assert.equal(out === all.out, true);
  });

  it('may be cut off by a reader that has seen enough', async (t) => {
    const home = manyRoots(t);
    const script = '{ "$0" "$@"; echo "ended with $?" >&2; } | head -1';
    const { out, err } = await shell(home, script, 'explain', '--server', 's');
    assert.deepEqual([out, err], ['server   s\n', 'ended with 0\n']);
  });

  it('shows people nothing that hides: hidden characters of names, paths and titles are escaped', async (t) => {
    const home = new TestHome(t, ['dir home/m/zero\u200bwidth', 'dir home/m/dir\u202eection', 'dir home/a']);
    home.policy(`roots:
  m: { path: ~/m/* }
  a: { path: ~/a, title: "soft\\u00adhyphen" }
rules: [{ id: r, allow: [m, a], reason: "wide\\u3000blank" }]
`);
    await home.serve();
    await home.peer('s\u2060s');
    const shown = [];
    for (const args of [
      ['explain', '--claims', 's'],
      ['explain', 'm/zero\u200bwidth', '--claims', 's'],
      ['explain', '/\u001b[31m/x', '--claims', 's\u0007'],
      ['explain', '\u001b[31mnone', '--claims', 's'],
      ['roots', '--claims', 's'],
      ['sessions'],
      ['resolve', '/\u001b[31m/x', '--within', '/\u0007'],
      ['check', '\u001b[31m.yaml'],
      ['\u001b[31mcommand'],
    ]) {
      const { out, err } = await home.command(...args);
      shown.push(out, err);
      assert.doesNotMatch(`${out}${err}`.replaceAll('\n', ''), /[\p{Cc}\p{Cf}\u3000]/u, args.join(' '));
    }
    const text = shown.join('');
    for (const escaped of ['zero\\u200bwidth', 'soft\\xadhyphen', 's\\u2060s', '\\x1b[31m']) {
      assert.ok(text.includes(escaped), `${escaped} in ${text}`);
    }
    assert.equal(text.includes('ection'), false, 'a member whose name turns the text around is left out');
  });

  it('keeps the exact text in JSON, and writes it without hidden characters', async (t) => {
    const home = new TestHome(t, ['dir home/m/zero\u200bwidth']);
    home.policy('roots: { m: { path: ~/m/* } }\nrules: [{ id: r, allow: [m] }]\n');
    const { out } = await home.command('explain', 'm/zero\u200bwidth', '--claims', 's', '--json');
    assert.equal(JSON.parse(out).root.name, 'm/zero\u200bwidth');
    assert.doesNotMatch(out, /\u200b/);
  });

  it('names a policy file that is misnamed, whatever is in its name', async (t) => {
    const home = new TestHome(t);
    home.put(join(home.directory('user'), '\u001b[31m.yaml'), 'version: 1\n');
    const { status, out } = await home.command('check');
    assert.equal(status, 1);
    assert.match(out, /\\x1b\[31m\.yaml:1:1: error: .*\[POLICY_FILE_NAME\]/);
    assert.doesNotMatch(out, /\u001b/);
  });
});

it('rootsd runs from any directory, by a link too', async (t) => {
  const home = new TestHome(t, [`link bin/rootsd -> ${ROOTSD}`]);
  const wrap = ['sh', '-c', `exec "${home.base}/bin/rootsd" version`];
  const { out } = await outcomeOf(home.start([], { cwd: '/', wrap }));
  assert.match(out, /^rootsd \d/);
});

describe('an argument that names nothing', () => {
  for (const args of [
    ['check', ''],
    ['allow', '', '--server', 's'],
    ['explain', '/x', '--server', ''],
    ['explain', '/x', '--server', 'a b'],
  ]) {
    it(`is refused: rootsd ${JSON.stringify(args)}`, async (t) => {
      const { status, err } = await new TestHome(t).command(...args);
      assert.deepEqual([status, /\[USAGE\]/.test(err)], [64, true], err);
    });
  }

  it('is refused where it is not valid UTF-8, the home too', (t) => {
    const home = new TestHome(t);
    const run = (script: string) =>
      spawnSync('sh', ['-c', script, process.execPath, ROOTSD], { env: home.env, encoding: 'utf8' });
    const allowed = run('exec "$0" "$1" allow "$(printf "/tmp/\\377")" --server s');
    assert.deepEqual([allowed.status, /not valid UTF-8/.test(allowed.stderr)], [64, true]);
    const checked = run('HOME="$(printf "/tmp/\\377")" exec "$0" "$1" check');
    assert.deepEqual([checked.status, /home directory: it is not valid UTF-8/.test(checked.stderr)], [64, true]);
  });
});
