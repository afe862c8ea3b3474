// The files of an audit: `audit.jsonl` and the full ones before it, `audit.jsonl.1` the youngest of them. What a write that
// was cut short has left is moved to `audit.jsonl.torn`.

import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { checkPrivateDirectory, type Owner } from '../disk/private-directory.ts';
import { type ChainEnd, chainAfter, parseLink } from './audit-line.ts';
import { checkOwnFile } from './own-file.ts';

const { O_APPEND, O_CREAT, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = fs.constants;
const APPEND = O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
const NEWLINE = 0x0a;
const TAIL_BYTES = 64 * 1024;

/** A file to append to, all of whose lines are whole. */
export interface OpenAuditFile {
  readonly fd: number;
  readonly sizeBytes: number;
  /** Where the chain stands at its end; null where the file is empty. */
  readonly end: ChainEnd | null;
  /** How much of a line that was cut short has been moved away. */
  readonly tornBytes: number;
}

/** Opens an audit file and makes it where it is missing, 0600. Throws where others could have written it. */
export function openAuditFile(path: string, owner: Owner): OpenAuditFile {
  fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const fd = openOurs(path, owner);
  try {
    const { size } = fs.fstatSync(fd);
    const { line, torn } = readTail(fd, size);
    if (torn.length > 0) {
      setAside(`${path}.torn`, torn, owner);
      fs.ftruncateSync(fd, size - torn.length);
    }
    return { fd, sizeBytes: size - torn.length, end: endAfter(line), tornBytes: torn.length };
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
}

/** Where the chain stands at the end of a file; null where it is not there or empty. */
export function endOfFile(path: string, owner: Owner): ChainEnd | null {
  if (!fs.existsSync(path)) return null;
  const { fd, end } = openAuditFile(path, owner);
  fs.closeSync(fd);
  return end;
}

/** Moves every file one number up; the one that has the last number goes. */
export function rotateFiles(path: string, keep: number): void {
  if (keep === 0) fs.rmSync(path, { force: true });
  for (let to = keep; to > 0; to -= 1) {
    const from = to === 1 ? path : `${path}.${to - 1}`;
    if (fs.existsSync(from)) fs.renameSync(from, `${path}.${to}`);
  }
}

/** Is what is open still what has the name, or has somebody moved or removed it? */
export function isStillAt(path: string, fd: number): boolean {
  const named = fs.lstatSync(path, { throwIfNoEntry: false });
  const open = fs.fstatSync(fd);
  return named !== undefined && named.dev === open.dev && named.ino === open.ino;
}

/** Writes all or throws; what was written of it by then stays, and is set aside when the file is opened again. */
export function appendAll(fd: number, data: Uint8Array): void {
  for (let done = 0; done < data.length; ) done += fs.writeSync(fd, data, done);
}

function openOurs(path: string, owner: Owner): number {
  const fd = fs.openSync(path, APPEND, 0o600);
  try {
    checkOwnFile(path, fs.fstatSync(fd), owner);
    checkPrivateDirectory(dirname(path), owner);
    fs.fchmodSync(fd, 0o600);
    return fd;
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
}

interface Tail {
  /** The last whole line, without its line break; null where there is none. */
  readonly line: Uint8Array | null;
  /** What follows it. */
  readonly torn: Uint8Array;
}

function readTail(fd: number, size: number): Tail {
  for (let window = TAIL_BYTES; ; window *= 4) {
    const length = Math.min(window, size);
    const bytes = Buffer.alloc(length);
    fs.readSync(fd, bytes, 0, length, size - length);
    const end = bytes.lastIndexOf(NEWLINE);
    const start = end <= 0 ? -1 : bytes.lastIndexOf(NEWLINE, end - 1);
    if (start < 0 && length < size) continue;
    return { line: end < 0 ? null : bytes.subarray(start + 1, end), torn: bytes.subarray(end + 1) };
  }
}

function setAside(path: string, torn: Uint8Array, owner: Owner): void {
  const fd = openOurs(path, owner);
  try {
    appendAll(fd, Buffer.concat([torn, Buffer.of(NEWLINE)]));
  } finally {
    fs.closeSync(fd);
  }
}

/** After a line that is none of ours the chain goes on by its digest, numbered anew: a check of the chain names that line. */
function endAfter(line: Uint8Array | null): ChainEnd | null {
  if (line === null) return null;
  return chainAfter(line, parseLink(Buffer.from(line).toString())?.seq ?? -1);
}
