import assert from 'node:assert/strict';
import { test } from 'node:test';
import { patternPath } from '../../src/core/pattern.ts';
import { ANA, compileTexts, problemsIn, shown } from './shown-problems.ts';

type Row = readonly [body: string, ...expected: string[]];

/** Bodies follow `version: 1`, so their first line is line 2. */
const REFUSED: Readonly<Record<string, readonly Row[]>> = {
  'unknown keys at any level': [
    ['rulez: []\n', 'SCHEMA_UNKNOWN_KEY 2:1'],
    ['roots: { a: { path: /a, acess: read-only } }\n', 'SCHEMA_UNKNOWN_KEY 2:25'],
    ['servers: { s: { comand: x } }\n', 'SCHEMA_UNKNOWN_KEY 2:17'],
    ['hosts: { h: { guard: on } }\n', 'SCHEMA_UNKNOWN_KEY 2:15'],
    ['rules: [{ id: r, deny: [/x], acess: read-only }]\n', 'SCHEMA_UNKNOWN_KEY 2:30'],
    ['ceiling: [{ path: /a, acces: read-only }]\n', 'SCHEMA_UNKNOWN_KEY 2:23'],
    ['tests: [{ claims: s, path: /a, expect: deny, why: x }]\n', 'SCHEMA_UNKNOWN_KEY 2:46'],
    ['prompts: { p: { template: x, visible_to: {} } }\n', 'SCHEMA_UNKNOWN_KEY 2:30'],
  ],
  'values of the wrong kind, without coercing': [
    ['rules: { id: r }\n', 'SCHEMA_TYPE 2:8'],
    ['rules: r\n', 'SCHEMA_LIST 2:8'],
    ['rules: [{ id: r, deny: ~/.ssh }]\n', 'SCHEMA_LIST 2:24'],
    ['rules: [{ id: r, deny: { a: b } }]\n', 'SCHEMA_TYPE 2:24'],
    ['rules: [{ id: r, deny: [/a], servers: s }]\n', 'SCHEMA_LIST 2:39'],
    ['ceiling: ~/x\n', 'SCHEMA_LIST 2:10'],
    ['roots: [a]\n', 'SCHEMA_TYPE 2:8'],
    ['roots: { a: /x }\n', 'SCHEMA_TYPE 2:13'],
    ['roots: { a: { path: [/x] } }\n', 'SCHEMA_TYPE 2:21'],
    ['roots: { a: { path: /x/*, having: .git } }\n', 'SCHEMA_LIST 2:35'],
  ],
  'other spellings of true and false': [
    ['roots: { a: { path: /x, sensitive: yes } }\n', 'SCHEMA_BOOLEAN 2:36'],
    ['roots: { a: { path: /x, sensitive: no } }\n', 'SCHEMA_BOOLEAN 2:36'],
    ['roots: { a: { path: /x, sensitive: on } }\n', 'SCHEMA_BOOLEAN 2:36'],
    ['roots: { a: { path: /x, sensitive: off } }\n', 'SCHEMA_BOOLEAN 2:36'],
    ['roots: { a: { path: /x, sensitive: "true" } }\n', 'SCHEMA_BOOLEAN 2:36'],
    ['roots: { a: { path: /x, sensitive: 1 } }\n', 'SCHEMA_BOOLEAN 2:36'],
  ],
  'unquoted numbers and words where text belongs': [
    ['roots: { 1.10: { path: /x } }\n', 'YAML_KEY 2:10'],
    ['roots: { 007: { path: /x } }\n', 'YAML_KEY 2:10'],
    ['rules: [{ id: 8080, deny: [/x] }]\n', 'SCHEMA_QUOTES 2:15'],
    [
      'rules: [{ id: r, deny: [/x], servers: [1.10, 007, 1e3, 5, true] }]\n',
      'YAML_FRACTION 2:40',
      'YAML_LEADING_ZERO 2:46',
      'YAML_FRACTION 2:51',
      'SCHEMA_QUOTES 2:56',
      'SCHEMA_QUOTES 2:59',
    ],
    ['servers: { s: { command: [x, 8080] } }\n', 'SCHEMA_QUOTES 2:30'],
  ],
  'words that are not among those a key takes': [
    ['roots: { a: { path: /x, access: readonly } }\n', 'SCHEMA_VALUE 2:33'],
    ['roots: { a: { path: /x, kind: dir } }\n', 'SCHEMA_VALUE 2:31'],
    ['servers: { s: { roots: true } }\n', 'SCHEMA_VALUE 2:24'],
    [
      'servers: { s: { guard: maybe, confine: yes, require: known, channels: [pipe] } }\n',
      'SCHEMA_VALUE 2:24',
      'SCHEMA_VALUE 2:40',
      'SCHEMA_VALUE 2:54',
      'SCHEMA_PATTERN 2:72',
    ],
    ['rules: [{ id: r, ask: [a], approver: root }]\nroots: { a: { path: /x } }\n', 'SCHEMA_VALUE 2:38'],
    ['tests: [{ claims: s, path: /x, expect: yes, kind: allowed }]\n', 'SCHEMA_VALUE 2:40', 'SCHEMA_VALUE 2:51'],
  ],
  'names that are none': [
    ['roots: { "a b": { path: /x } }\n', 'SCHEMA_PATTERN 2:10'],
    ['servers: { -s: {} }\n', 'SCHEMA_PATTERN 2:12'],
    ['rules: [{ id: "r/s", deny: [/x] }]\n', 'SCHEMA_PATTERN 2:15'],
    [`roots: { ${'a'.repeat(101)}: { path: /x } }\n`, 'SCHEMA_PATTERN 2:10'],
    [
      'rules: [{ id: r, deny: [/x], users: ["uid:x", "a b", "%", "uid:01"] }]\n',
      'SCHEMA_PATTERN 2:38',
      'SCHEMA_PATTERN 2:47',
      'SCHEMA_PATTERN 2:54',
      'SCHEMA_PATTERN 2:59',
    ],
  ],
  'empty lists and texts': [
    ['rules: [{ id: r, deny: [] }]\n', 'SCHEMA_EMPTY 2:24'],
    ['rules: [{ id: r, deny: [/x], users: [], servers: [] }]\n', 'SCHEMA_EMPTY 2:37', 'SCHEMA_EMPTY 2:50'],
    ['ceiling: []\n', 'SCHEMA_EMPTY 2:10'],
    ['roots: { a: { path: "" } }\n', 'SCHEMA_EMPTY 2:21'],
    ['servers: { s: { command: " " } }\n', 'SCHEMA_EMPTY 2:26'],
  ],
  'rules without exactly one effect, or with keys of another': [
    ['rules: [{ id: r }]\n', 'SCHEMA_ONE_OF 2:9'],
    ['rules: [{ id: r, allow: [a], deny: [/x] }]\nroots: { a: { path: /x } }\n', 'SCHEMA_ONE_OF 2:9'],
    ['rules: [{ deny: [/x] }]\n', 'SCHEMA_MISSING_KEY 2:9'],
    ['rules: [{ id: r, deny: [/x], access: read-only }]\n', 'SCHEMA_MISPLACED_KEY 2:30'],
    [
      'rules: [{ id: r, deny: [/x], scopes: [once], mandatory: true, approver: user }]\n',
      'SCHEMA_MISPLACED_KEY 2:30',
      'SCHEMA_MISPLACED_KEY 2:46',
      'SCHEMA_MISPLACED_KEY 2:63',
    ],
    ['rules: [{ id: r, allow: [a], mandatory: true }]\nroots: { a: { path: /x } }\n', 'SCHEMA_MISPLACED_KEY 2:30'],
  ],
  'scopes that are none or longer than a day': [
    [
      'rules: [{ id: r, ask: [a], scopes: [25h, 1441m, 0m, forever, 8, 1440m, 24h, once] }]\nroots: { a: { path: /x } }\n',
      'SCHEMA_PATTERN 2:37',
      'SCHEMA_PATTERN 2:42',
      'SCHEMA_PATTERN 2:49',
      'SCHEMA_PATTERN 2:53',
      'SCHEMA_TYPE 2:62',
    ],
    [
      'rules: [{ id: r, ask: [a], scopes: [session, always, 8h] }]\nroots: { a: { path: /x, sensitive: true } }\n',
      'POLICY_SENSITIVE_SCOPE 2:46',
      'POLICY_SENSITIVE_SCOPE 2:54',
    ],
    [
      'rules: [{ id: r, ask: [a], scopes: [8h] }]\nroots: { a: { path: ~/.ssh/keys } }\n',
      'POLICY_SENSITIVE_SCOPE 2:37',
    ],
  ],
  'paths that cannot be used': [
    ['roots: { a: { path: x/y } }\n', 'POLICY_PATH 2:21'],
    ['roots: { a: { path: ~bob/x } }\n', 'POLICY_PATH 2:21'],
    ['roots: { a: { path: "${foo}/x" } }\n', 'POLICY_PATH 2:21'],
    ['roots: { a: { path: /a/../b } }\n', 'POLICY_PATH 2:21'],
    ['rules: [{ id: r, deny: [/a/**/b, ~/ok, "~x"] }]\n', 'POLICY_PATH 2:25', 'POLICY_PATH 2:40'],
    ['rules: [{ id: r, deny: [/a], except: [/a/..] }]\n', 'POLICY_PATH 2:39'],
    ['ceiling: [~/x, "${home/x", { path: /a/../b }]\n', 'POLICY_PATH 2:16', 'POLICY_PATH 2:36'],
    ['tests: [{ claims: s, path: /a/*, expect: deny }]\n', 'POLICY_PATH 2:28'],
    [
      'rules: [{ id: r, deny: ["~/a\\u202eb", "~/a\\nb"] }]\n',
      'SCHEMA_HIDDEN_CHARACTER 2:25',
      'SCHEMA_HIDDEN_CHARACTER 2:39',
    ],
    [
      'roots: { a: { path: "/a\\u2066b", title: "x\\u0000y" } }\n',
      'SCHEMA_HIDDEN_CHARACTER 2:21',
      'SCHEMA_HIDDEN_CHARACTER 2:41',
    ],
  ],
  'stars in a root elsewhere than as its last component': [
    ['roots: { a: { path: /a/*/b } }\n', 'POLICY_PATH 2:21'],
    ['roots: { a: { path: /a/** } }\n', 'POLICY_PATH 2:21'],
    ['roots: { a: { path: /a/b* } }\n', 'POLICY_PATH 2:21'],
    ['roots: { a: { path: /a, having: [.git] } }\n', 'POLICY_HAVING 2:25'],
    ['roots: { a: { path: /a/*, having: [b/c] } }\n', 'SCHEMA_PATTERN 2:36'],
  ],
  'roots as wide as the filesystem, the home or what holds homes': [
    ['roots: { a: { path: / } }\n', 'POLICY_WIDE_ROOT 2:21'],
    ['roots: { a: { path: //./ } }\n', 'POLICY_WIDE_ROOT 2:21'],
    ['roots: { a: { path: ~/ } }\n', 'POLICY_WIDE_ROOT 2:21'],
    ['roots: { a: { path: "~" } }\n', 'POLICY_WIDE_ROOT 2:21'],
    ['roots: { a: { path: "${home}" } }\n', 'POLICY_WIDE_ROOT 2:21'],
    ['roots: { a: { path: /home/ana } }\n', 'POLICY_WIDE_ROOT 2:21'],
    ['roots: { a: { path: /home } }\n', 'POLICY_WIDE_ROOT 2:21'],
    ['roots: { a: { path: /Users } }\n', 'POLICY_WIDE_ROOT 2:21'],
    ['roots: { a: { path: /home/* } }\n', 'POLICY_WIDE_ROOT 2:21'],
    ['roots: { a: { path: /* } }\n', 'POLICY_WIDE_ROOT 2:21'],
  ],
  'roots and rules that nobody declares': [
    ['rules: [{ id: r, allow: [a] }]\n', 'POLICY_UNKNOWN_ROOT 2:26'],
    ['rules: [{ id: r, deny: [/x], except: [a/b] }]\n', 'POLICY_UNKNOWN_ROOT 2:39'],
    ['rules: [{ id: r, deny: [" ~/.ssh"] }]\n', 'POLICY_UNKNOWN_ROOT 2:25'],
    ['tests: [{ claims: s, root: a, expect: deny }]\n', 'POLICY_UNKNOWN_ROOT 2:28'],
    ['tests: [{ claims: s, path: /a, expect: deny, rule: r }]\n', 'POLICY_UNKNOWN_RULE 2:52'],
  ],
  'members of what has none, and members that are no name': [
    ['roots: { a: { path: /a } }\nrules: [{ id: r, allow: [a/b] }]\n', 'POLICY_NOT_A_PATTERN 3:26'],
    ['roots: { a: { path: /a } }\nrules: [{ id: r, allow: [a/*] }]\n', 'POLICY_NOT_A_PATTERN 3:26'],
    [
      'roots: { a: { path: /a/* } }\nrules: [{ id: r, allow: [a/b/c, a/.., a/, a/**] }]\n',
      'POLICY_MEMBER 3:26',
      'POLICY_MEMBER 3:33',
      'POLICY_MEMBER 3:39',
      'POLICY_MEMBER 3:43',
    ],
  ],
  'paths that are granted': [
    [
      'rules: [{ id: r, allow: [/x] }, { id: s, ask: [~/y, "${home}/z"] }]\n',
      'POLICY_PATH_GRANTED 2:26',
      'POLICY_PATH_GRANTED 2:48',
      'POLICY_PATH_GRANTED 2:53',
    ],
  ],
  'selectors that select too much or nothing': [
    ['servers: { s: { exe: /usr/bin/node } }\n', 'POLICY_INTERPRETER 2:22'],
    ['servers: { s: { exe: /usr/bin/python3.12 } }\n', 'POLICY_INTERPRETER 2:22'],
    ['hosts: { h: { exe: /bin/sh } }\n', 'POLICY_INTERPRETER 2:20'],
    ['servers: { s: { exe: /usr/lib/jvm/java-17 } }\n', 'POLICY_INTERPRETER 2:22'],
    ['servers: { s: { exe: bin/git } }\n', 'POLICY_PATH 2:22'],
    ['servers: { s: { sha256: abc } }\n', 'SCHEMA_PATTERN 2:25'],
  ],
  'tests that do not say exactly who and what': [
    ['tests: [{ path: /a, expect: deny }]\n', 'SCHEMA_ONE_OF 2:9'],
    ['tests: [{ server: s, claims: s, path: /a, expect: deny }]\n', 'SCHEMA_ONE_OF 2:9'],
    ['tests: [{ claims: s, expect: deny }]\n', 'SCHEMA_ONE_OF 2:9'],
    ['tests: [{ claims: s, path: /a }]\n', 'SCHEMA_MISSING_KEY 2:9'],
  ],
};

for (const [what, rows] of Object.entries(REFUSED)) {
  test(`compileLayer() refuses ${what}`, () => {
    for (const [body, ...expected] of rows) assert.deepEqual(problemsIn(body), expected, body);
  });
}

test('compileLayer() refuses a version that is missing, another, or not the number 1', () => {
  const rows: readonly (readonly [string, string])[] = [
    ['roots: {}\n', 'SCHEMA_MISSING_KEY 1:1'],
    ['version: 2\n', 'SCHEMA_VALUE 1:10'],
    ['version: "1"\n', 'SCHEMA_TYPE 1:10'],
    ['version: 1.10\n', 'YAML_FRACTION 1:10'],
    ['version: 1.0\n', 'YAML_FRACTION 1:10'],
    ['[]\n', 'SCHEMA_TYPE 1:1'],
    ['text\n', 'SCHEMA_TYPE 1:1'],
  ];
  for (const [text, expected] of rows)
    assert.deepEqual(shown(compileTexts({ 'a.yaml': text }).problems), [expected], text);
});

test('compileLayer() names the nearest key, word or root', () => {
  const hintOf = (body: string) => compileTexts({ 'a.yaml': `version: 1\n${body}` }).problems[0]?.hint;
  assert.equal(hintOf('rulse: []\n'), 'Did you mean "rules"?');
  assert.equal(hintOf('ROOTS: {}\n'), 'Did you mean "roots"?');
  assert.equal(
    hintOf('roots: { frontend: { path: /x } }\nrules: [{ id: r, allow: [fronted] }]\n'),
    'Did you mean "frontend"?',
  );
  assert.match(hintOf('quite-another: 1\n') ?? '', /^One of: version, roots/);
});

test('compileLayer() reports all problems of all files in one go, in their order', () => {
  const { policy, problems } = compileTexts({
    'a.yaml': 'version: 1\nroots: { a: { path: rel, titel: x } }\nrules: [{ id: r, allow: [b], acess: x }]\n',
    'b.yaml': 'version: 1\nrules: &x []\nceiling: []\n',
    'c.yaml': 'version: 3\n',
  });
  assert.equal(policy, null);
  assert.deepEqual(
    problems.map(({ file, code }) => `${file} ${code}`),
    [
      'a.yaml POLICY_PATH',
      'a.yaml SCHEMA_UNKNOWN_KEY',
      'a.yaml POLICY_UNKNOWN_ROOT',
      'a.yaml SCHEMA_UNKNOWN_KEY',
      'b.yaml YAML_ANCHOR',
      'b.yaml SCHEMA_EMPTY',
      'c.yaml SCHEMA_VALUE',
    ],
  );
});

test('compileLayer() does not call a name unknown that a file which cannot be parsed may declare', () => {
  const { problems } = compileTexts({
    'a.yaml': 'version: 1\nrules: [{ id: r, allow: [b] }]\n',
    'b.yaml': 'version: 1\nroots: { b: { path: "/b } }\n',
  });
  assert.deepEqual(
    problems.map(({ code }) => code),
    ['YAML_QUOTE'],
  );
});

test('compileLayer() does not call a root unknown whose declaration is wrong', () => {
  assert.deepEqual(problemsIn('roots: { a: { path: rel } }\nrules: [{ id: r, allow: [a] }]\n'), ['POLICY_PATH 2:21']);
});

test('compileLayer() makes the lower or later file wrong where a name is taken, and names both places', () => {
  const upper = compileTexts(
    {
      '/sys/a.yaml':
        'version: 1\nroots:\n  a: { path: /a }\nservers: { s: {} }\nprompts: { p: { template: x } }\nrules: [{ id: r, deny: [/x] }]\n',
    },
    { layer: 'system' },
  );
  assert.ok(upper.policy);
  const body =
    'version: 1\nroots: { a: { path: /b } }\nservers: { s: {} }\nprompts: { p: { template: y } }\nrules: [{ id: r, deny: [/y] }]\n';
  const { problems } = compileTexts({ '/user/b.yaml': body }, { upper: [upper.policy] });
  assert.deepEqual(shown(problems), [
    'POLICY_DUPLICATE_NAME 2:10',
    'POLICY_DUPLICATE_NAME 3:12',
    'POLICY_DUPLICATE_NAME 4:12',
    'POLICY_DUPLICATE_NAME 5:15',
  ]);
  assert.ok(problems.every(({ file }) => file === '/user/b.yaml'));
  assert.match(problems[0]?.message ?? '', /root "a" is declared in \/sys\/a\.yaml:3/);
  assert.match(problems[0]?.hint ?? '', /^One is "\/a", the other "\/b": rename one of them; /);
  assert.match(problems[1]?.hint ?? '', /^Rename one of them; if both mean the same, take one out: /);
  const twice = Object.fromEntries(
    ['a', 'b'].map((name) => [`${name}.yaml`, 'version: 1\nroots: { w: { path: ~/w } }\n']),
  );
  assert.match(compileTexts(twice).problems[0]?.hint ?? '', /^Both are "~\/w": take one out: /);
  const files = {
    'a.yaml': 'version: 1\nrules: [{ id: r, deny: [/x] }]\n',
    'b.yaml': 'version: 1\nrules: [{ id: r, deny: [/y] }]\n',
  };
  const [same] = compileTexts(files).problems;
  assert.deepEqual([same?.file, same?.code], ['b.yaml', 'POLICY_DUPLICATE_NAME']);
});

test('compileLayer() lets a rule name roots of its own layer and of those above, never of one below', () => {
  const system = compileTexts({ 's.yaml': 'version: 1\nroots: { top: { path: /top } }\n' }, { layer: 'system' });
  assert.ok(system.policy);
  const user = compileTexts(
    {
      'a.yaml': 'version: 1\nrules: [{ id: r, allow: [top, own] }]\n',
      'b.yaml': 'version: 1\nroots: { own: { path: /own } }\n',
    },
    { upper: [system.policy] },
  );
  assert.deepEqual(user.problems, []);
  const below = compileTexts({ 's.yaml': 'version: 1\nrules: [{ id: r, allow: [own] }]\n' }, { layer: 'system' });
  assert.deepEqual(shown(below.problems), ['POLICY_UNKNOWN_ROOT 2:26']);
});

test('compileLayer() warns of what is probably a slip, and goes on', () => {
  const rows: readonly Row[] = [
    [
      'servers: { filesystem: {} }\nrules: [{ id: r, deny: [/x], servers: [filesytem, other] }]\n',
      'warning POLICY_NEAR_NAME 3:40',
    ],
    [
      'hosts: { vscode: {} }\ntests: [{ claims: s, host: vscod, path: /x, expect: deny }]\n',
      'warning POLICY_NEAR_NAME 3:28',
    ],
    ['servers: { git: { socket: git } }\n', 'warning POLICY_NO_LISTENER 2:27'],
    [
      'rules: [{ id: r, deny: [~/x/*.pem, "/a*/b", ~/ok/*, ~/ok/**] }]\n',
      'warning POLICY_LITERAL_STAR 2:25',
      'warning POLICY_LITERAL_STAR 2:36',
    ],
  ];
  for (const [body, ...expected] of rows) {
    const { policy, problems } = compileTexts({ 'a.yaml': `version: 1\n${body}` });
    assert.deepEqual(shown(problems), expected);
    assert.ok(policy !== null);
  }
});

test('compileLayer() knows the listeners it is given', () => {
  const text = 'version: 1\nservers: { git: { socket: git } }\n';
  assert.deepEqual(compileTexts({ 'a.yaml': text }, { listeners: ['git'] }).problems, []);
});

test('compileLayer() fills in defaults', () => {
  const { policy } = compileTexts({
    'a.yaml':
      'version: 1\nroots: { a: { path: ~/a } }\nservers: { s: {} }\nrules: [{ id: q, ask: [a] }, { id: d, deny: [a] }]\n',
  });
  const source = (line: number, column: number) => ({ layer: 'user', file: 'a.yaml', line, column });
  const [root] = policy?.roots ?? [];
  assert.deepEqual(root, {
    name: 'a',
    path: { text: '~/a', components: ['home', 'ana', 'a'] },
    having: [],
    kind: 'directory',
    symlinks: 'inside',
    nested: 'withhold',
    sensitive: false,
    source: source(2, 10),
  });
  const server = {
    name: 's',
    selectors: {},
    roots: true,
    hostRoots: 'narrow',
    guard: 'on',
    paths: [],
    confine: 'none',
  };
  assert.deepEqual(policy?.servers, [{ ...server, source: source(3, 12) }]);
  const target = { kind: 'root', root: 'a', place: root?.path };
  const rule = { access: 'read-only', except: [], mandatory: false, approver: 'user', targets: [target] };
  assert.deepEqual(policy?.rules, [
    { id: 'q', effect: 'ask', ...rule, scopes: ['session', '8h'], source: source(4, 9) },
    { id: 'd', effect: 'deny', ...rule, scopes: [], source: source(4, 30) },
  ]);
});

test('compileLayer() compiles every key of the grammar', () => {
  const { policy, problems } = compileTexts({
    'a.yaml': `version: 1
roots:
  z: { path: "/srv/\${user}/x", title: Zed, access: read-only, kind: file, symlinks: none, nested: carve, sensitive: true }
  p: { path: ~/src/*, having: [.git] }
  "10": { path: /b }
servers:
  a: { command: " npx  -y pkg ", require: launched, roots: off, host-roots: ignore, guard: strict, paths: [p], channels: [argv], confine: required }
  b: { exe: /usr/bin//mcp-git, sha256: ${'AB'.repeat(32)} }
hosts:
  h: { command: [code, --wait] }
rules:
  - { id: r, ask: [p/x, p/*, p], except: [p/y, /srv/q], servers: [a], hosts: [h], users: [ana, "uid:7", "%dev"], access: read-write, reason: why, scopes: [once, 30m], mandatory: true, approver: admin }
  - { id: s, deny: [z, /x/*/y/**] }
ceiling: [/srv, { path: ~/**, access: read-only }]
tests:
  - { server: a, host: h, user: "%dev", root: p/x, expect: ask, access: read-only, rule: r, kind: pending }
  - { claims: a, path: ~/x, expect: deny }
`,
  });
  assert.deepEqual(
    problems.map(({ code, line, severity }) => `${severity} ${code} ${line}`),
    ['warning POLICY_NO_EFFECT 3', 'warning POLICY_NEVER_MATCHES 8'],
  );
  assert.ok(policy);
  assert.deepEqual(
    policy.roots.map(({ name }) => name),
    ['z', 'p', '10'],
  );
  assert.deepEqual(
    policy.roots.map(({ path }) => patternPath(path)),
    ['/srv/ana/x', '/home/ana/src/*', '/b'],
  );
  const [a, b] = policy.servers;
  assert.deepEqual(a?.selectors, { command: ['npx', '-y', 'pkg'], require: 'launched' });
  assert.deepEqual(
    [a?.roots, a?.hostRoots, a?.guard, a?.paths, a?.channels, a?.confine],
    [false, 'ignore', 'strict', ['p'], ['argv'], 'required'],
  );
  assert.deepEqual(b?.selectors, { exe: '/usr/bin/mcp-git', sha256: 'ab'.repeat(32) });
  assert.deepEqual(policy.hosts[0]?.selectors, { command: ['code', '--wait'] });
  const [r, s] = policy.rules;
  assert.deepEqual(
    r?.targets.map((target) => [
      target.kind === 'root' && target.member,
      target.kind === 'root' && patternPath(target.place),
    ]),
    [
      ['x', '/home/ana/src/x'],
      [undefined, '/home/ana/src/*'],
      [undefined, '/home/ana/src/*'],
    ],
  );
  assert.deepEqual(r?.users, [
    { kind: 'name', name: 'ana' },
    { kind: 'uid', uid: 7 },
    { kind: 'group', group: 'dev' },
  ]);
  assert.deepEqual(
    [r?.scopes, r?.mandatory, r?.approver, r?.access, r?.reason],
    [['once', '30m'], true, 'admin', 'read-write', 'why'],
  );
  assert.deepEqual(
    r?.except.map(({ kind }) => kind),
    ['root', 'path'],
  );
  assert.deepEqual(
    s?.targets.map((target) => patternPath(target.kind === 'path' ? target.pattern : target.place)),
    ['/srv/ana/x', '/x/*/y'],
  );
  assert.deepEqual(
    policy.ceilings.map(({ items, source }) => [
      items.map(({ pattern, access }) => [patternPath(pattern), access]),
      source.line,
    ]),
    [
      [
        [
          ['/srv', undefined],
          ['/home/ana', 'read-only'],
        ],
        14,
      ],
    ],
  );
  const [first, second] = policy.tests;
  assert.deepEqual(first?.user, { kind: 'group', group: 'dev' });
  assert.deepEqual(second?.path, { text: '~/x', components: ['home', 'ana', 'x'] });
});

test('compileLayer() makes the same policy of the same texts, in any expansion of them', () => {
  const texts = { 'a.yaml': 'version: 1\nroots: { a: { path: ~/a } }\n' };
  assert.deepEqual(compileTexts(texts), compileTexts(texts));
  const bob = compileTexts(texts, { expansions: { ...ANA, home: '/home/bob' } });
  assert.deepEqual(bob.policy?.roots[0]?.path.components, ['home', 'bob', 'a']);
  assert.match(bob.policy?.files[0]?.sha256 ?? '', /^[0-9a-f]{64}$/);
});
