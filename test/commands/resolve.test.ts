import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { createInterface } from 'node:readline';
import { PassThrough, type Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import type { Io } from '../../src/commands/io.ts';
import { type ResolveOptions, resolveCommand } from '../../src/commands/resolve.ts';
import type { Answer } from '../../src/commands/resolve-request.ts';
import { ROOTSD } from '../support/serve.ts';
import { makeTree } from '../support/tree.ts';

const TREE = [
  'dir root/sub',
  'file root/f text',
  'fifo root/pipe',
  'dir other',
  'link root/out -> ../other',
  'link alias -> root',
  'dir root/a\u202eb',
];

interface Outcome {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

function openIo(cwd: string) {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
  const io: Io = { ...streams, env: { HOME: '/home/ana' }, argv: [], cwd: () => cwd };
  return { io, ...streams };
}

async function resolve(cwd: string, paths: readonly string[], options: Partial<ResolveOptions> = {}): Promise<Outcome> {
  const { io, stdout, stderr } = openIo(cwd);
  const status = await resolveCommand(paths, { within: [], format: 'human', ...options }, io);
  stdout.end();
  stderr.end();
  return { status, out: await text(stdout), err: await text(stderr) };
}

/** Answers to these lines, given all at once. */
async function answersTo(cwd: string, lines: readonly (string | Buffer | object)[], within: readonly string[] = []) {
  const { io, stdin, stdout } = openIo(cwd);
  for (const line of lines) {
    stdin.write(typeof line === 'string' || Buffer.isBuffer(line) ? line : JSON.stringify(line));
    stdin.write('\n');
  }
  stdin.end();
  const output = text(stdout);
  const status = await resolveCommand([], { within, format: 'human', stdin: true }, io);
  stdout.end();
  assert.equal(status, 0);
  return (await output)
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Answer => JSON.parse(line));
}

describe('resolveCommand()', () => {
  it('prints where paths lead, from the working directory on, without --within', async (t) => {
    const base = makeTree(t, TREE);
    assert.deepEqual(await resolve(base, ['alias/sub', `${base}/root/./f`, 'new', '.']), {
      status: 0,
      out: `${base}/root/sub\n${base}/root/f\n${base}/new\n${base}\n`,
      err: '',
    });
    const mixed = await resolve(base, ['root/f/x', 'root', '']);
    assert.equal(mixed.status, 1);
    assert.equal(mixed.out, `${base}/root\n`);
    assert.match(
      mixed.err,
      /^rootsd: Cannot resolve "root\/f\/x": the path .*not a directory\n.* "": the path is empty\n$/,
    );
  });

  it('says with --within whether each is inside, and exits 1 if any is not', async (t) => {
    const base = makeTree(t, TREE);
    const yes = await resolve(base, ['alias/f', 'root/new'], { within: ['root'] });
    assert.equal(yes.status, 0);
    assert.match(yes.out, new RegExp(`^inside +${base}/root/f +the path leads to .*\ninside +${base}/root/new .*\n$`));
    const no = await resolve(base, ['root/f', 'root/out', 'root/f/'], { within: [`${base}/alias`, 'other/nope'] });
    assert.equal(no.status, 1);
    assert.match(no.out, new RegExp(`^inside .*\noutside +${base}/other .*\ninvalid +root/f/ .*\n$`));
    assert.equal(no.err, 'rootsd: Cannot use --within "other/nope": it does not exist\n');
  });

  it('prints a list with --json, of the shape that --stdin has', async (t) => {
    const base = makeTree(t, TREE);
    const { out } = await resolve(base, ['root/f', 'root/f/'], { within: ['root'], format: 'json' });
    assert.deepEqual(JSON.parse(out), [
      {
        id: 'root/f',
        verdict: 'inside',
        canonical: `${base}/root/f`,
        root: `${base}/root`,
        why: `the path lies in "${base}/root"`,
      },
      { id: 'root/f/', verdict: 'invalid', why: 'the path goes on below something that is not a directory' },
    ]);
    const canonical = await resolve(base, ['root/out'], { format: 'json' });
    const [row] = JSON.parse(canonical.out);
    assert.equal(canonical.status, 0);
    assert.deepEqual([row.verdict, row.canonical], [null, `${base}/other`]);
  });

  it('takes file URIs with --uri, and only these', async (t) => {
    const base = makeTree(t, TREE);
    const uri = { uri: true, within: [`file://${base}/root`] };
    assert.equal((await resolve(base, [`file://${base}/alias/%66`], uri)).status, 0);
    assert.equal((await resolve(base, [`file://${base}/root/%2e%2e/other`], uri)).status, 1);
    assert.match((await resolve(base, ['root/f'], uri)).out, /^invalid +root\/f +the URI does not begin/);
  });

  it('shows no hidden character as it is', async (t) => {
    const base = makeTree(t, TREE);
    assert.equal((await resolve(base, ['root/a\u202eb'])).out, `${base}/root/a\\u202eb\n`);
    assert.match((await resolve(base, ['x\u001b[31m/\ud800'])).err, /"x\\x1b\[31m\/\\ud800"/);
  });

  it('refuses a command line that cannot be meant', async (t) => {
    const base = makeTree(t, TREE);
    await assert.rejects(resolve(base, []), { code: 'USAGE' });
    await assert.rejects(resolve(base, ['root'], { stdin: true }), { code: 'USAGE' });
    await assert.rejects(resolve(base, [], { stdin: true, uri: true }), { code: 'USAGE' });
  });
});

describe('resolveCommand() with --stdin', () => {
  it('judges paths, URIs and paths of policies, each by the roots of its line', async (t) => {
    const base = makeTree(t, TREE);
    const roots = [`${base}/root`];
    const rows: readonly (readonly [line: object, verdict: string])[] = [
      [{ kind: 'path', input: `${base}/alias/f`, roots }, 'inside'],
      [{ kind: 'path', input: `${base}/root/out`, roots }, 'outside'],
      [{ kind: 'path', input: `${base}/root/pipe`, roots }, 'inside'],
      [{ kind: 'path', input: 'root/f', roots }, 'invalid'],
      [{ kind: 'path', input: `~/f`, roots }, 'invalid'],
      [{ kind: 'path', input: `${base}/root/\ud800`, roots }, 'invalid'],
      [{ kind: 'path', input: `${base}/root/f`, roots: [] }, 'outside'],
      [{ kind: 'path', input: `${base}/root/f` }, 'outside'],
      [
        { kind: 'path', input: `${base}/root/f`, roots: ['root', `${base}/nope`, 7, null, `file://${base}/root/`] },
        'inside',
      ],
      [{ kind: 'path', input: '/etc/passwd', roots: ['/'] }, 'inside'],
      [{ kind: 'uri', input: `file://${base}/root/%66`, roots }, 'inside'],
      [{ kind: 'uri', input: `file://${base}/root/%2e%2e/other`, roots }, 'outside'],
      [{ kind: 'uri', input: `${base}/root/f`, roots }, 'invalid'],
      [{ kind: 'uri', input: `file://server${base}/root/f`, roots }, 'invalid'],
      [{ kind: 'policy-path', input: `${base}//root/./f/`, roots }, 'inside'],
      [{ kind: 'policy-path', input: `${base}/root/pipe`, roots }, 'invalid'],
      [{ kind: 'policy-path', input: `${base}/root/../other`, roots }, 'invalid'],
      [{ kind: 'policy-path', input: `${base}/root/*`, roots }, 'invalid'],
      [{ kind: 'policy-path', input: '~', roots: ['/'] }, 'inside'],
      [{ kind: 'policy-path', input: '~bob/', roots: ['/'] }, 'invalid'],
      [{ kind: 'policy-path', input: '/srv/${nope}', roots: ['/'] }, 'invalid'],
    ];
    const answers = await answersTo(
      base,
      rows.map(([line], id) => ({ id, ...line })),
    );
    assert.equal(answers.length, rows.length);
    for (const [i, [line, verdict]] of rows.entries()) {
      assert.equal(answers[i]?.id, i);
      assert.equal(answers[i]?.verdict, verdict, JSON.stringify(line));
      assert.equal(typeof answers[i]?.why, 'string');
    }
    assert.deepEqual([answers[0]?.canonical, answers[0]?.root], [`${base}/root/f`, `${base}/root`]);
    assert.equal(answers[1]?.canonical, `${base}/other`);
  });

  it('expands placeholders in paths of policies', async () => {
    const lines = ['~/no', '/no/${hostname}/${uid}'].map((input, id) => ({
      id,
      kind: 'policy-path',
      input,
      roots: [],
    }));
    const canonical = (await answersTo('/', lines)).map((answer) => answer.canonical);
    assert.deepEqual(canonical, ['/home/ana/no', `/no/${hostname()}/${process.geteuid?.()}`]);
  });

  it('gives a line without roots those of --within', async (t) => {
    const base = makeTree(t, TREE);
    const lines = [
      { id: 'a', kind: 'path', input: `${base}/root/f` },
      { id: 'b', kind: 'path', input: `${base}/root/f`, roots: [] },
    ];
    assert.deepEqual(
      (await answersTo(base, lines, ['root'])).map(({ verdict }) => verdict),
      ['inside', 'outside'],
    );
  });

  it('answers a line that is no question as invalid and goes on', async (t) => {
    const base = makeTree(t, TREE);
    const good = { id: 9, kind: 'path', input: `${base}/root`, roots: [base] };
    const rows: readonly (readonly [line: string | Buffer | object, id: unknown, why: RegExp])[] = [
      ['{', null, /JSON/],
      ['[]', null, /JSON/],
      ['null', null, /JSON/],
      ['"x"', null, /JSON/],
      [Buffer.from([0x22, 0xff, 0x22]), null, /UTF-8/],
      [`"${'x'.repeat(1024 * 1024)}"`, null, /too long/],
      [{ id: {}, kind: 'path', input: '/' }, null, /"id"/],
      [{ id: 1, input: '/' }, 1, /"kind"/],
      [{ id: 'x', kind: 'URI', input: '/' }, 'x', /"kind"/],
      [{ id: 0, kind: 'path' }, 0, /"input"/],
      [{ id: '', kind: 'path', input: 7 }, '', /"input"/],
      [{ id: 2, kind: 'path', input: '/', roots: '/' }, 2, /"roots"/],
      [{ kind: 'path', input: '' }, null, /empty/],
    ];
    const answers = await answersTo(base, [...rows.map(([line]) => line), good]);
    for (const [i, [, id, why]] of rows.entries()) {
      assert.deepEqual([answers[i]?.id, answers[i]?.verdict], [id, 'invalid']);
      assert.match(answers[i]?.why ?? '', why);
    }
    assert.equal(answers.at(-1)?.verdict, 'inside');
  });

  it('answers each line before it waits for the next, however lines are cut into chunks', async (t) => {
    const base = makeTree(t, [...TREE, 'dir root/äö']);
    const { io, stdin, stdout } = openIo(base);
    const done = resolveCommand([], { within: [], format: 'human', stdin: true }, io);
    const answers = lines(stdout);
    for (let id = 0; id < 20; id++) {
      const line = Buffer.from(`${JSON.stringify({ id, kind: 'path', input: `${base}/root/äö`, roots: [base] })}\r\n`);
      for (let at = 0; at < line.length; at += 7) stdin.write(line.subarray(at, at + 7));
      const { value } = await answers.next();
      const answer = JSON.parse(value ?? '');
      assert.deepEqual([answer.id, answer.canonical], [id, `${base}/root/äö`]);
    }
    stdin.end();
    assert.equal(await done, 0);
  });

  it('answers a last line without a line feed, and no blank line', async (t) => {
    const base = makeTree(t, TREE);
    const { io, stdin, stdout } = openIo(base);
    stdin.end(`\n  \r\n${JSON.stringify({ id: 1, kind: 'path', input: '/', roots: ['/'] })}`);
    await resolveCommand([], { within: [], format: 'human', stdin: true }, io);
    stdout.end();
    assert.match(await text(stdout), /^\{"id":1,"verdict":"inside","canonical":"\/","root":"\/",.*\}\n$/);
  });

  it('reads no further than its answers are read', async () => {
    const { io, stdin, stdout } = openIo('/');
    const done = resolveCommand([], { within: [], format: 'human', stdin: true }, io);
    const line = `${JSON.stringify({ id: 1, kind: 'path', input: '/', roots: ['/'] })}\n`;
    let written = 0;
    while (stdin.write(line)) written += 1;
    // Nobody reads: what waits is bounded by the two buffers.
    await once(stdout, 'readable');
    assert.equal(stdout.readableLength < 4 * stdout.readableHighWaterMark, true);
    stdin.end();
    const output = await Promise.all([text(stdout), done.then(() => stdout.end())]);
    assert.equal(output[0].split('\n').length - 1, written + 1);
  });

  it('ends when its reader has gone', async () => {
    const { io, stdin, stdout } = openIo('/');
    stdout.destroy();
    stdin.write('{}\n');
    assert.equal(await resolveCommand([], { within: [], format: 'human', stdin: true }, io), 0);
  });
});

function lines(stream: Readable): AsyncIterator<string> {
  return createInterface({ input: stream })[Symbol.asyncIterator]();
}

describe('rootsd resolve as a program', () => {
  it('calls an argument invalid that is not UTF-8, and takes the character that stands for it for what it is', (t) => {
    const base = makeTree(t, ['dir d']);
    // Only a shell can give an argument that is not UTF-8.
    const script = 'exec "$0" "$1" resolve --within "$2" "$2/$(printf "a\\377")" "$2/$(printf "\\357\\277\\275")"';
    const { status, stdout } = spawnSync('sh', ['-c', script, process.execPath, ROOTSD, `${base}/d`], {
      encoding: 'utf8',
    });
    const [first, second] = stdout.split('\n');
    assert.match(first ?? '', /^invalid .* is not valid UTF-8$/);
    assert.match(second ?? '', /^inside /);
    assert.equal(status, 1);
  });
});
