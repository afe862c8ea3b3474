import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { LOG_EVENTS } from '../../src/core/log-event.ts';
import { type AuditOptions, openAudit } from '../../src/state/audit.ts';
import type { Log } from '../../src/system/log.ts';
import { makeEntry, makeTree } from '../support/tree.ts';
import { auditFiles, verifyAudit } from '../support/verify-audit.ts';

const OWNER = { uid: process.getuid?.() ?? -1 };

function auditPlace(t: TestContext, tree: readonly string[] = []) {
  const base = makeTree(t, tree);
  const path = join(base, 'audit.jsonl');
  const said: string[] = [];
  const log: Log = (_level, event) => said.push(event);
  const open = (options: Partial<AuditOptions> = {}) => {
    const now = () => new Date(0);
    const audit = openAudit({ path, sizeBytes: 1_000_000, keep: 5, owner: OWNER, log, now, ...options });
    t.after(() => audit.close());
    return audit;
  };
  const lines = () => readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return { base, path, said, open, lines, verdict: () => verifyAudit(auditFiles(path, 5)) };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

test('append() writes a line that carries number, time, event, fields and the SHA-256 of the line before', (t) => {
  const { open, lines, path } = auditPlace(t);
  const audit = open();
  audit.append(LOG_EVENTS.attached, { server: 'git\n\u202e', seq: 9, prev: 'x', event: 'y' });
  audit.append(LOG_EVENTS.decided, { roots: ['a'] });
  const [first = '', second = ''] = lines();
  assert.equal(
    first,
    `{"seq":0,"time":"1970-01-01T00:00:00.000Z","event":"peer attached","server":"git\\n\\u202e","prev":"${'0'.repeat(64)}"}`,
  );
  assert.equal(
    second,
    `{"seq":1,"time":"1970-01-01T00:00:00.000Z","event":"session list changed","roots":["a"],"prev":"${sha256(first)}"}`,
  );
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test('openAudit() goes on with the chain after a restart', (t) => {
  const { open, verdict, said } = auditPlace(t);
  for (let start = 0; start < 3; start += 1) {
    const audit = open();
    audit.append(LOG_EVENTS.started, { start, long: 'x'.repeat(8_000), longer: Array(20).fill('y'.repeat(8_000)) });
    audit.append(LOG_EVENTS.stopped, { start });
    audit.close();
  }
  assert.deepEqual(verdict(), { ok: true, lines: 6 });
  assert.deepEqual(said, []);
});

test('append() puts full files away and keeps so many; the chain goes on over all of them, also after a restart', (t) => {
  const { open, base, verdict, path } = auditPlace(t);
  const sizeBytes = 1_000;
  for (let start = 0; start < 4; start += 1) {
    const audit = open({ sizeBytes, keep: 3 });
    for (let i = 0; i < 20; i += 1) audit.append(LOG_EVENTS.decided, { i });
    audit.close();
  }
  assert.deepEqual(readdirSync(base).sort(), ['audit.jsonl', 'audit.jsonl.1', 'audit.jsonl.2', 'audit.jsonl.3']);
  for (const file of auditFiles(path, 3)) assert.ok(statSync(file).size <= sizeBytes);
  assert.equal(verdict().ok, true);
  assert.equal(JSON.parse(readFileSync(path, 'utf8').trimEnd().split('\n').at(-1) ?? '').seq, 79);
});

test('openAudit() goes on with the chain where it died between putting a file away and beginning the next', (t) => {
  const { open, path, verdict } = auditPlace(t);
  open().append(LOG_EVENTS.started, {});
  renameSync(path, `${path}.1`);
  open().append(LOG_EVENTS.started, {});
  assert.deepEqual(verdict(), { ok: true, lines: 2 });
});

test('append() that keeps no full files begins anew and stays a chain', (t) => {
  const { open, base, verdict } = auditPlace(t);
  const audit = open({ sizeBytes: 400, keep: 0 });
  for (let i = 0; i < 10; i += 1) audit.append(LOG_EVENTS.decided, { i });
  assert.deepEqual(readdirSync(base), ['audit.jsonl']);
  assert.equal(verdict().ok, true);
});

test('openAudit() sets a line aside that was cut short, and says so', (t) => {
  const { open, path, verdict, said } = auditPlace(t);
  const audit = open();
  audit.append(LOG_EVENTS.started, {});
  audit.close();
  appendFileSync(path, '{"seq":1,"ti');
  assert.deepEqual(verdict(), { ok: false, file: path, line: 2, why: 'it is cut short' });
  open().append(LOG_EVENTS.started, {});
  assert.deepEqual(verdict(), { ok: true, lines: 2 });
  assert.equal(readFileSync(`${path}.torn`, 'utf8'), '{"seq":1,"ti\n');
  assert.deepEqual(said, ['audit file repaired']);
});

test('append() goes on in a new file where somebody has moved or removed the one that was open', (t) => {
  const { open, path, verdict } = auditPlace(t);
  const audit = open();
  audit.append(LOG_EVENTS.started, {});
  renameSync(path, `${path}.1`);
  audit.append(LOG_EVENTS.decided, {});
  assert.deepEqual(verdict(), { ok: true, lines: 2 });
  rmSync(path);
  audit.append(LOG_EVENTS.decided, {});
  assert.deepEqual([verdict().ok, statSync(path).size > 0], [false, true]);
});

test('append() that cannot write logs once, counts, and says later how many lines are missing', (t) => {
  const { open, path, said, lines, verdict } = auditPlace(t);
  const audit = open();
  audit.append(LOG_EVENTS.started, {});
  rmSync(path);
  makeEntry(path, 'dir x');
  for (let i = 0; i < 3; i += 1) audit.append(LOG_EVENTS.decided, { i });
  assert.deepEqual(said, ['audit line lost']);
  rmSync(path, { recursive: true });
  audit.append(LOG_EVENTS.decided, { i: 3 });
  assert.deepEqual(
    lines().map((line) => [JSON.parse(line).event, JSON.parse(line).lines ?? JSON.parse(line).i]),
    [
      ['audit line lost', 3],
      ['session list changed', 3],
    ],
  );
  assert.equal(verdict().ok, true);
});

test('append() leaves whole lines where the disk is full in the middle of one', (t) => {
  if (process.getuid?.() !== 0) return t.skip('needs root: mounts a small disk in a namespace of its own');
  const disk = makeTree(t, []);
  const program = fileURLToPath(new URL('../support/full-disk-audit.ts', import.meta.url));
  const shell = 'mount -t tmpfs -o size=64k,mode=755 none "$1" && exec "$0" --import tsx "$2" "$1"';
  const arguments_ = ['--mount', 'sh', '-c', shell, process.execPath, disk, program];
  const child = spawnSync('unshare', arguments_, { encoding: 'utf8' });
  if (/unshare|mount: /.test(child.stderr)) return t.skip('needs the right to mount');
  assert.equal(child.status, 0, child.stderr);
  assert.deepEqual(JSON.parse(child.stdout), {
    cutShort: true,
    said: ['audit line lost', 'audit file repaired', 'audit goes on'],
    verdict: true,
    last: true,
  });
});

test('openAudit() does not write where others could have written, through a link, or into a pipe', (t) => {
  const rows: [string, (path: string) => void][] = [
    [
      'writable by others',
      (path) => {
        writeFileSync(path, '');
        chmodSync(path, 0o622);
      },
    ],
    ['a link', (path) => makeEntry(join(path, '..'), 'link audit.jsonl -> elsewhere')],
    ['a pipe', (path) => makeEntry(join(path, '..'), 'fifo audit.jsonl')],
    ['in a directory that others can write', (path) => chmodSync(join(path, '..'), 0o777)],
  ];
  for (const [what, prepare] of rows) {
    const { base, path, open, said } = auditPlace(t, ['file elsewhere untouched']);
    prepare(path);
    const audit = open();
    audit.append(LOG_EVENTS.started, {});
    assert.equal(said[0], 'audit line lost', what);
    assert.equal(readFileSync(join(base, 'elsewhere'), 'utf8'), 'untouched', what);
  }
});

test('verifyAudit() names the first line that was changed, put in, left out or moved', (t) => {
  const { open, path, lines, verdict } = auditPlace(t);
  const audit = open();
  for (let i = 0; i < 5; i += 1) audit.append(LOG_EVENTS.decided, { i });
  const good = lines();
  const [a = '', b = '', c = '', d = '', e = ''] = good;
  // lines | the line that is named, null = ok
  const rows: [string, string[], number | null][] = [
    ['as written', good, null],
    ['no line', [], null],
    ['the oldest put away', [c, d, e], null],
    ['changed', [a, b.replace('"i":1', '"i":7'), c, d, e], 3],
    ['changed by a blank', [a, `${b} `, c, d, e], 3],
    ['left out', [a, b, d, e], 3],
    ['put in', [a, b, b, c, d, e], 3],
    ['moved', [a, c, b, d, e], 2],
    ['no JSON', [a, 'x', c], 2],
    ['null', [a, 'null', c], 2],
    ['no link', [a, '{"seq":1}', c], 2],
    ['an empty line', [a, '', b], 2],
    ['the first begins with a digest', [a.replace(/0{64}/, 'f'.repeat(64)), b], 1],
  ];
  for (const [what, written, line] of rows) {
    writeFileSync(path, written.map((it) => `${it}\n`).join(''));
    const found = verdict();
    assert.equal(found.ok ? null : found.line, line, what);
  }
});

test('verifyAudit() goes on over files and names the one that is broken', (t) => {
  const { open, path, verdict } = auditPlace(t);
  const audit = open({ sizeBytes: 400 });
  for (let i = 0; i < 6; i += 1) audit.append(LOG_EVENTS.decided, { i });
  assert.equal(verdict().ok, true);
  rmSync(`${path}.1`);
  assert.deepEqual(verdict(), { ok: false, file: path, line: 1, why: 'its number is 4, it must be 2' });
});
