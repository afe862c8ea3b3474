// Owners and modes are judged as they are, not by what is refused to us, so these tests hold for root too.
import assert from 'node:assert/strict';
import { chmodSync, chownSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Trust, TrustedReader } from '../../src/policy/trust.ts';
import { needsRoot } from '../support/nobody.ts';
import { makeTree } from '../support/tree.ts';

const ANA = 1000;
const BOB = 1001;
const MAX = 1024;

type Change = readonly [path: string, change: { readonly mode?: number; readonly uid?: number; readonly gid?: number }];

interface Row {
  readonly name: string;
  readonly tree?: readonly string[];
  readonly changes?: readonly Change[];
  readonly layer?: 'system' | 'user';
  readonly read?: string;
  readonly expected: readonly string[];
}

/** home/ana/conf/policies.d/a.yaml, all of it ana's; `system`: etc/policies.d/a.yaml, all of it root's. */
const TREE = ['file home/conf/policies.d/a.yaml text', 'file etc/policies.d/a.yaml text', 'dir other'];
const OWNED = ['home', 'home/conf', 'home/conf/policies.d', 'home/conf/policies.d/a.yaml'];
const USER_FILE = 'home/conf/policies.d/a.yaml';
const SYSTEM_FILE = 'etc/policies.d/a.yaml';

const ACCOUNTS = {
  passwd:
    'root:x:0:0::/root:/bin/sh\nana:x:1000:1000::/home/ana:/bin/sh\nbob:x:1001:1001::/home/bob:/bin/sh\nmate:x:1002:1003::/:/bin/sh\n',
  group: 'root:x:0:\nana:x:1000:\nbob:x:1001:\nteam:x:2000:ana,bob\nshared:x:1003:\n',
};

const ROWS: readonly Row[] = [
  { name: 'a file of the user in directories of the user', expected: [] },
  { name: 'a file of root in directories of the user', changes: [[USER_FILE, { uid: 0 }]], expected: [] },
  { name: 'a file of another user', changes: [[USER_FILE, { uid: BOB }]], expected: [`TRUST_OWNER ${USER_FILE}`] },
  {
    name: 'a file that everyone may write',
    changes: [[USER_FILE, { mode: 0o646 }]],
    expected: [`TRUST_OTHERS_WRITE ${USER_FILE}`],
  },
  {
    name: "a file that the user's own group may write",
    changes: [[USER_FILE, { mode: 0o664, gid: ANA }]],
    expected: [],
  },
  {
    name: 'a file that a shared group may write',
    changes: [[USER_FILE, { mode: 0o664, gid: 2000 }]],
    expected: [`TRUST_GROUP_WRITE ${USER_FILE}`],
  },
  {
    name: "a file that another user's own group may write",
    changes: [[USER_FILE, { mode: 0o664, gid: BOB }]],
    expected: [`TRUST_GROUP_WRITE ${USER_FILE}`],
  },
  {
    name: 'a file that an unknown group may write',
    changes: [[USER_FILE, { mode: 0o664, gid: 4711 }]],
    expected: [`TRUST_GROUP_WRITE ${USER_FILE}`],
  },
  {
    name: 'a file that a shared group may only read',
    changes: [[USER_FILE, { mode: 0o640, gid: 2000 }]],
    expected: [],
  },
  {
    name: 'a directory that everyone may write',
    changes: [['home/conf', { mode: 0o777 }]],
    expected: ['TRUST_OTHERS_WRITE home/conf'],
  },
  {
    name: 'a directory that a shared group may write',
    changes: [['home/conf', { mode: 0o775, gid: 2000 }]],
    expected: ['TRUST_GROUP_WRITE home/conf'],
  },
  {
    name: 'a directory of another user',
    changes: [['home/conf/policies.d', { uid: BOB }]],
    expected: ['TRUST_OWNER home/conf/policies.d'],
  },
  {
    name: 'a home that everyone may write',
    changes: [['home', { mode: 0o777 }]],
    expected: ['TRUST_OTHERS_WRITE home'],
  },
  { name: 'a sticky directory with an entry of the user', changes: [['home/conf', { mode: 0o1777 }]], expected: [] },
  {
    name: 'a sticky directory with an entry of another user',
    changes: [
      ['home/conf', { mode: 0o1777 }],
      ['home/conf/policies.d', { uid: BOB }],
    ],
    expected: ['TRUST_OTHERS_WRITE home/conf', 'TRUST_OWNER home/conf/policies.d'],
  },
  {
    name: 'a sticky directory of another user',
    changes: [['home/conf', { mode: 0o1777, uid: BOB }]],
    expected: ['TRUST_OWNER home/conf'],
  },
  {
    name: 'mounted configuration: links to a dated directory',
    tree: ['file home/m/..2026/a.yaml text', 'link home/m/..data -> ..2026', 'link home/m/a.yaml -> ..data/a.yaml'],
    changes: [
      ['home/m', { uid: ANA }],
      ['home/m/..2026', { uid: ANA }],
    ],
    read: 'home/m/a.yaml',
    expected: [],
  },
  {
    name: 'a link through a directory that everyone may write',
    tree: [
      'link other/hop -> ../home/conf/policies.d/a.yaml',
      'link home/conf/policies.d/l.yaml -> ../../../other/hop',
    ],
    changes: [['other', { mode: 0o777 }]],
    read: 'home/conf/policies.d/l.yaml',
    expected: ['TRUST_OTHERS_WRITE other'],
  },
  {
    name: 'a link to a file of another user',
    tree: ['file other/theirs.yaml x', 'link home/conf/policies.d/l.yaml -> ../../../other/theirs.yaml'],
    changes: [['other/theirs.yaml', { uid: BOB }]],
    read: 'home/conf/policies.d/l.yaml',
    expected: ['TRUST_OWNER other/theirs.yaml'],
  },
  { name: 'a system file of root', layer: 'system', read: SYSTEM_FILE, expected: [] },
  {
    name: 'a system file of a user',
    layer: 'system',
    read: SYSTEM_FILE,
    changes: [[SYSTEM_FILE, { uid: ANA }]],
    expected: [`TRUST_OWNER ${SYSTEM_FILE}`],
  },
  {
    name: 'a system file in a directory of a user',
    layer: 'system',
    read: SYSTEM_FILE,
    changes: [['etc', { uid: ANA }]],
    expected: ['TRUST_OWNER etc'],
  },
  { name: 'a directory is no file', read: 'home/conf', expected: ['TRUST_NOT_A_FILE home/conf'] },
];

function prepare(t: TestContext, { tree = [], changes = [] }: Pick<Row, 'tree' | 'changes'> = {}): string {
  const base = makeTree(t, [
    ...TREE,
    ...tree,
    `file accounts/passwd ${ACCOUNTS.passwd}`,
    `file accounts/group ${ACCOUNTS.group}`,
  ]);
  for (const path of OWNED) chownSync(join(base, path), ANA, ANA);
  for (const [path, { mode, uid = -1, gid = -1 }] of changes) {
    chownSync(join(base, path), uid === -1 ? idOf(path) : uid, gid === -1 ? idOf(path) : gid);
    if (mode !== undefined) chmodSync(join(base, path), mode);
  }
  return base;
}

function idOf(path: string): number {
  return OWNED.includes(path) ? ANA : 0;
}

function trustIn(base: string, layer: 'system' | 'user' = 'user'): Trust {
  const accounts = { passwdFile: join(base, 'accounts/passwd'), groupFile: join(base, 'accounts/group'), ownUid: -1 };
  return { layer, uid: ANA, home: join(base, 'home'), accounts };
}

for (const row of ROWS) {
  test(`TrustedReader judges ${row.name}`, { skip: needsRoot }, async (t) => {
    const base = prepare(t, row);
    const reader = new TrustedReader(trustIn(base, row.layer));
    const { problems } = await reader.read(join(base, row.read ?? USER_FILE), MAX);
    const judged = await new TrustedReader(trustIn(base, row.layer)).judge(join(base, row.read ?? USER_FILE));
    assert.deepEqual(judged, problems, 'the same whether it is read or not');
    // Of a link, the file itself is named as it was asked for.
    const found = problems.map(({ code, file }) => `${code} ${file.slice(base.length + 1)}`);
    const asked = row.expected.map((line) => line.replace('other/theirs.yaml', 'home/conf/policies.d/l.yaml'));
    assert.deepEqual(found.sort(), [...asked].sort());
  });
}

test('TrustedReader names the command that mends it', { skip: needsRoot }, async (t) => {
  const base = prepare(t, { changes: [[USER_FILE, { mode: 0o666, uid: BOB }]] });
  const reader = new TrustedReader(trustIn(base));
  const { problems } = await reader.read(join(base, USER_FILE), MAX);
  const file = join(base, USER_FILE);
  assert.deepEqual(
    problems.map(({ hint }) => hint),
    [`Run: chown 1000 ${file}`, `Run: chmod go-w ${file}`],
  );
});

test('TrustedReader has nobody change a directory that is shared on purpose', { skip: needsRoot }, async (t) => {
  const base = prepare(t, {
    changes: [
      ['home/conf', { mode: 0o1777 }],
      ['home/conf/policies.d', { uid: BOB }],
    ],
  });
  const reader = new TrustedReader(trustIn(base));
  const { problems } = await reader.read(join(base, USER_FILE), MAX);
  const shared = problems.find(({ code }) => code === 'TRUST_OTHERS_WRITE');
  assert.equal(shared?.hint, 'Keep the file in a directory that others cannot write in');
});

test('TrustedReader quotes a path that a shell would take apart', { skip: needsRoot }, async (t) => {
  const base = prepare(t);
  const odd = join(base, "home/it's; x.yaml");
  writeFileSync(odd, '');
  chmodSync(odd, 0o666);
  const reader = new TrustedReader(trustIn(base));
  const { problems } = await reader.read(odd, MAX);
  assert.equal(problems[0]?.hint, `Run: chmod go-w '${base}/home/it'\\''s; x.yaml'`);
});

test('TrustedReader says a directory is wrong once for all files in it', { skip: needsRoot }, async (t) => {
  const base = prepare(t, { tree: ['file home/conf/policies.d/b.yaml x'], changes: [['home/conf', { mode: 0o777 }]] });
  chownSync(join(base, 'home/conf/policies.d/b.yaml'), ANA, ANA);
  const reader = new TrustedReader(trustIn(base));
  const first = await reader.read(join(base, USER_FILE), MAX);
  const second = await reader.read(join(base, 'home/conf/policies.d/b.yaml'), MAX);
  assert.deepEqual([first.problems.length, second.problems.length], [1, 0]);
});

test('TrustedReader counts a primary group of somebody else as shared', { skip: needsRoot }, async (t) => {
  const base = prepare(t, { changes: [[USER_FILE, { mode: 0o664, gid: ANA }]] });
  writeFileSync(join(base, 'accounts/passwd'), `${ACCOUNTS.passwd}eve:x:1005:1000::/:/bin/sh\n`);
  const reader = new TrustedReader(trustIn(base));
  const { problems } = await reader.read(join(base, USER_FILE), MAX);
  assert.deepEqual(
    problems.map(({ code }) => code),
    ['TRUST_GROUP_WRITE'],
  );
});

test('TrustedReader takes no group for private where the accounts cannot be read', { skip: needsRoot }, async (t) => {
  const base = prepare(t, { changes: [[USER_FILE, { mode: 0o664, gid: ANA }]] });
  const accounts = { passwdFile: join(base, 'none'), groupFile: join(base, 'none'), ownUid: -1 };
  const reader = new TrustedReader({ ...trustIn(base), accounts });
  const { problems } = await reader.read(join(base, USER_FILE), MAX);
  assert.deepEqual(
    problems.map(({ code }) => code),
    ['TRUST_GROUP_WRITE'],
  );
});

test('TrustedReader does not look above the home for files inside it, and does for others', {
  skip: needsRoot,
}, async (t) => {
  const base = prepare(t, { tree: ['file other/b.yaml x'] });
  chmodSync(base, 0o777);
  const inside = await new TrustedReader(trustIn(base)).read(join(base, USER_FILE), MAX);
  const outside = await new TrustedReader(trustIn(base)).read(join(base, 'other/b.yaml'), MAX);
  assert.deepEqual(inside.problems, []);
  assert.deepEqual(
    outside.problems.map(({ code, file }) => [code, file]),
    [['TRUST_OTHERS_WRITE', base]],
  );
});

test('TrustedReader follows an absolute link to what it names', { skip: needsRoot }, async (t) => {
  const base = prepare(t, { changes: [['other', { mode: 0o777 }]] });
  symlinkSync(join(base, USER_FILE), join(base, 'other/hop'));
  symlinkSync(join(base, 'other/hop'), join(base, 'home/l.yaml'));
  const reader = new TrustedReader(trustIn(base));
  const { bytes, problems } = await reader.read(join(base, 'home/l.yaml'), MAX);
  assert.equal(bytes?.toString(), 'text');
  assert.deepEqual(
    problems.map(({ code, file }) => [code, file]),
    [['TRUST_OTHERS_WRITE', join(base, 'other')]],
  );
});

test('TrustedReader refuses a file that is not the one its way leads to', async (t) => {
  const base = makeTree(t, ['file a old', 'file b new']);
  const reader = new TrustedReader({ layer: 'user', uid: process.getuid?.() ?? 0, home: base });
  await reader.read(join(base, 'a'), MAX);
  // What the reader saw on the way is what it goes by; then another file is there.
  renameSync(join(base, 'b'), join(base, 'a'));
  const { problems } = await reader.read(join(base, 'a'), MAX);
  assert.deepEqual(
    problems.map(({ code }) => code),
    ['TRUST_CHANGED'],
  );
});

test('TrustedReader warns where trust is only a warning', { skip: needsRoot }, async (t) => {
  const base = prepare(t, { changes: [[USER_FILE, { mode: 0o666 }]] });
  const reader = new TrustedReader({ ...trustIn(base), severity: 'warning' });
  const { problems, bytes } = await reader.read(join(base, USER_FILE), MAX);
  assert.deepEqual(
    problems.map(({ severity }) => severity),
    ['warning'],
  );
  assert.equal(bytes?.toString(), 'text');
});

test('TrustedReader neither blocks on a pipe nor reads it', async (t) => {
  const base = makeTree(t, ['fifo p']);
  const reader = new TrustedReader({ layer: 'user', uid: process.getuid?.() ?? 0, home: base });
  const { bytes, problems } = await reader.read(join(base, 'p'), MAX);
  assert.equal(bytes, null);
  assert.match(problems[0]?.message ?? '', /is a pipe: it must be a regular file/);
});

test('TrustedReader refuses what is larger than the limit without reading it', async (t) => {
  const base = makeTree(t, [`file a ${'x'.repeat(MAX + 1)}`]);
  const reader = new TrustedReader({ layer: 'user', uid: process.getuid?.() ?? 0, home: base });
  const { bytes, problems } = await reader.read(join(base, 'a'), MAX);
  assert.equal(bytes, null);
  assert.deepEqual(
    problems.map(({ code }) => code),
    ['FILE_TOO_LARGE'],
  );
});

test('TrustedReader rejects with the error of the system', async (t) => {
  const base = makeTree(t, ['link loop -> loop', 'link gone -> nowhere', 'file f x']);
  const reader = new TrustedReader({ layer: 'user', uid: process.getuid?.() ?? 0, home: base });
  await assert.rejects(reader.read(join(base, 'none'), MAX), { code: 'ENOENT' });
  await assert.rejects(reader.read(join(base, 'gone'), MAX), { code: 'ENOENT' });
  await assert.rejects(reader.read(join(base, 'loop'), MAX), { code: 'ELOOP' });
  await assert.rejects(reader.read(join(base, 'f/x'), MAX), { code: 'ENOTDIR' });
});
