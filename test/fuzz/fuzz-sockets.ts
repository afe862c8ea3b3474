// Lines that nobody sends, to all sockets of a real daemon: peers', administration and a listener. It must not end, not
// grow, keep no session, find no bug in itself, and answer an honest session all the while.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { SessionsReply } from '../../src/daemon/control.ts';
import { type Served, TestHome } from '../support/serve.ts';
import type { Verdict } from './fuzz-target.ts';
import { LINES, WORDS } from './messages.ts';
import { mutate } from './mutate.ts';
import { mutateJson } from './mutate-json.ts';
import { Random } from './random.ts';
import { material } from './target.ts';

const HONEST = fileURLToPath(new URL('../../bench/soak/honest.mjs', import.meta.url));
const MATERIAL = material(LINES, WORDS);
const [ATTACH = ''] = LINES;
/** Connections at a time. */
const WIDTH = 8;
const MAX_LINES = 30;
/** A daemon that is slow to answer is not waited for for ever. */
const REPLY_MS = 2_000;
/** An honest session is answered within this; judged from so many lines on, on a machine that does nothing else. */
const HONEST_MS = 1_000;
const LONG = 20_000;
const GROWTH_MIB = 48;
const DESCRIPTORS = 4;

export async function fuzzSockets({ cases, seed }: { cases: number; seed: number }): Promise<Verdict> {
  const cleanups: (() => unknown)[] = [];
  try {
    return await fuzz(
      new TestHome({ after: (cleanup) => cleanups.unshift(cleanup as () => unknown) }, ['dir home/a']),
      {
        cases,
        seed,
      },
    );
  } finally {
    for (const cleanup of cleanups) await cleanup();
  }
}

async function fuzz(home: TestHome, { cases, seed }: { cases: number; seed: number }): Promise<Verdict> {
  home.configure('listeners: { git: { path: git.sock } }\n');
  home.policy('roots: { a: { path: ~/a } }\nrules: [{ id: r, allow: [a] }]\n');
  const daemon = await home.serveWith({});
  const honest = spawn(process.execPath, [HONEST, home.socket, `file://${home.home}/a`]);
  const account = text(honest.stdout);
  await once(honest.stderr, 'data');

  const sockets = ['rootsd.sock', 'control.sock', 'git.sock'].map((name) => join(dirname(home.socket), name));
  const counts: Counts = { sent: 0, replies: 0, buggy: [], left: cases };
  // Each connection says what its own seed makes of it, whatever the others do meanwhile.
  let connectionSeed = seed;
  const connections = async (): Promise<void> => {
    while (counts.left > 0 && daemon.process.exitCode === null) await converse(sockets, connectionSeed++, counts);
  };
  const load = async (share: number): Promise<void> => {
    counts.left = Math.ceil(cases * share);
    await Promise.all(Array.from({ length: WIDTH }, connections));
  };
  await load(1 / 3);
  const early = heldBy(daemon);
  await load(2 / 3);
  const sessions = await sessionsLeft(home);
  const late = heldBy(daemon);
  honest.stdin.end();
  const seen = JSON.parse(await account) as { asked: number; answered: number; wrong: number; longestMs: number };

  const faults = [
    daemon.process.exitCode === null ? null : `the daemon has ended with ${daemon.process.exitCode}`,
    daemon.count('bug') === 0 ? null : `${daemon.count('bug')} bugs of its own`,
    counts.buggy.length === 0 ? null : `"Internal error" in the connections of ${again(counts.buggy)}`,
    sessions === 1 ? null : `${sessions - 1} sessions left`,
    late.descriptors <= early.descriptors + DESCRIPTORS
      ? null
      : `${early.descriptors} -> ${late.descriptors} descriptors`,
    late.mib <= early.mib + GROWTH_MIB ? null : `${early.mib} -> ${late.mib} MiB`,
    seen.answered === seen.asked && seen.wrong === 0
      ? null
      : `of ${seen.asked} honest requests ${seen.answered} answered, ${seen.wrong} wrong`,
    cases < LONG || seen.longestMs <= HONEST_MS ? null : `an honest session waited ${seen.longestMs.toFixed(0)} ms`,
  ].filter((fault) => fault !== null);
  const figures = `${counts.sent} lines (seed ${seed}), ${counts.replies} replies, resident ${early.mib} -> ${late.mib} MiB, honest session: ${seen.answered} of ${seen.asked} answered, longest wait ${seen.longestMs.toFixed(0)} ms`;
  return {
    ok: faults.length === 0,
    text: `sockets: ${figures}${faults.map((fault) => `\n  FAILED: ${fault}`).join('')}`,
  };
}

interface Counts {
  sent: number;
  replies: number;
  /** The seeds of connections that got "Internal error". */
  readonly buggy: number[];
  left: number;
}

/** What makes each of these connections the first one of a run. */
function again(seeds: readonly number[]): string {
  return seeds.map((seed) => `--seed ${seed}`).join(', ');
}

/** One connection: some lines, in pieces; then it waits for the answers, half-closes or just goes. */
async function converse(sockets: readonly string[], seed: number, counts: Counts): Promise<void> {
  const random = new Random(seed);
  const socket = createConnection({ path: random.pick(sockets), allowHalfOpen: true });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    counts.replies += chunk.toString('latin1').split('\n').length - 1;
    if (chunk.includes('"code":-32603') && !counts.buggy.includes(seed)) counts.buggy.push(seed);
  });
  const lines = Array.from({ length: 1 + random.below(MAX_LINES) }, () => lineOf(random));
  if (random.oneIn(2)) lines.unshift(Buffer.from(`${ATTACH}\n`));
  counts.sent += lines.length;
  counts.left -= lines.length;
  await write(socket, Buffer.concat(lines), random);
  const end = random.below(3);
  if (end === 0) socket.end();
  if (end < 2) await Promise.race([closed, delay(end === 0 ? REPLY_MS : 5)]);
  socket.destroy();
  await closed;
}

async function write(socket: Socket, bytes: Buffer, random: Random): Promise<void> {
  for (let at = 0; at < bytes.length && !socket.destroyed; ) {
    const piece = bytes.subarray(at, at + 1 + random.below(random.oneIn(4) ? 64 : 65_536));
    at += piece.length;
    if (!socket.write(piece)) await Promise.race([once(socket, 'drain').catch(() => {}), delay(REPLY_MS)]);
  }
}

/**
 * Most lines are JSON, since the first that is none ends the connection. Anything but what would end the daemon as it
 * should.
 */
function lineOf(random: Random): Buffer {
  const known = random.pick(MATERIAL.corpus);
  const line = random.oneIn(20)
    ? mutate(MATERIAL, random)
    : Buffer.from(mutateJson(known.toString(), random).trimEnd());
  return line.includes('stop') ? Buffer.from('\n') : Buffer.concat([random.oneIn(4) ? known : line, Buffer.from('\n')]);
}

function heldBy({ pid }: Served): { readonly descriptors: number; readonly mib: number } {
  const [, pages = '0'] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ');
  return { descriptors: readdirSync(`/proc/${pid}/fd`).length, mib: Math.round((Number(pages) * 4_096) / 2 ** 20) };
}

/** The honest one, and what is left of the others after a while. */
async function sessionsLeft(home: TestHome): Promise<number> {
  for (let tries = 0; ; tries += 1) {
    const { sessions } = await home.json<SessionsReply>('sessions');
    if (sessions.length <= 1 || tries === 100) return sessions.length;
    await delay(100);
  }
}
