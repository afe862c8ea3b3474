// The few system calls that Node lacks, by FFI: peer credentials, pidfd, flock, openat2, poll of the mount table, a second
// descriptor of a socket, a datagram for sd_notify.
// The only user of koffi, an optional dependency that is loaded when it is asked for; each caller has a fallback.
//
// Rules of this file: a string is checked before it is passed (koffi cuts at NUL and sends a lone surrogate as U+FFFD),
// errno is read right after the call, and no call blocks. Linux is tested; the lines for macOS follow its headers.

import { constants } from 'node:os';
import { getSystemErrorMap } from 'node:util';
import { maxSocketPathBytes } from '../core/path.ts';

export interface PeerCredentials {
  /** Of the process that called connect(); null where our pid namespace does not show it. */
  readonly pid: number | null;
  readonly uid: number;
  readonly gid: number;
}

/** Every function throws an error with `code` and `errno` as `node:fs` does, `EINVAL` for a text with NUL or a lone surrogate. */
export interface Native {
  /** The kernel's word for who connected the Unix socket `fd`. */
  peerCredentials(fd: number): PeerCredentials;
  /** A pidfd of that process, to be closed by the caller; null where the kernel has none (Linux before 6.5, macOS).
   * Throws where the process is gone; kernels differ in the code. */
  peerPidfd(fd: number): number | null;
  /** Does the process of a pidfd still run? A zombie does not. */
  isAlive(pidfd: number): boolean;
  /** Another descriptor of the same open file, closed in children. */
  duplicate(fd: number): number;
  /** Takes an exclusive flock without waiting; false: another open file holds it. */
  tryLock(fd: number): boolean;
  /** An `O_PATH` descriptor, links resolved, `ELOOP` for a magic link (/proc/PID/root, /proc/PID/fd/N); `ENOSYS` off Linux. */
  openat2NoMagicLinks(path: string): number;
  /** Has the mount table changed since `fd`, of /proc/self/mountinfo, was opened or asked about last? `false` off Linux. */
  mountsChanged(fd: number): boolean;
  /** Sends one datagram to a Unix socket; `@name` is abstract. `EAGAIN`: its queue is full. */
  sendDatagram(address: string, text: string): void;
}

type Call = (...args: readonly unknown[]) => number | bigint;
type Declare = (definition: string) => Call;
interface Libc {
  readonly declare: Declare;
  /** A declared call whose negative result becomes an error of that name. */
  readonly checked: (definition: string) => Call;
}

/** Loads the native layer; null where koffi is not installed or does not load here. */
export async function openNative(): Promise<Native | null> {
  const koffi = await loadKoffi();
  if (koffi === null) return null;
  // The C library that this process runs on: no file name, which differs between glibc, musl and macOS.
  const library = koffi.load(null);
  const declare: Declare = (definition) => library.func(definition);
  const libc = { declare, checked: checkedBy(declare, koffi.errno) };
  return process.platform === 'darwin' ? darwin(libc) : linux(libc);
}

/** Absence and a build that does not fit this machine are one case: there is no native layer. */
async function loadKoffi() {
  try {
    return (await import('koffi')).default;
  } catch {
    return null;
  }
}

function linux(libc: Libc): Native {
  const option = socketOption(libc);
  const SOL_SOCKET = 1;
  const SO_PEERCRED = process.arch === 'ppc64' ? 21 : 17;
  const SO_PEERPIDFD = 77;
  return {
    ...common(libc, { cloexec: 0o2000000, doNotWait: 0x40, noSignal: 0x4000, duplicate: 1030 }),
    peerCredentials(fd) {
      const ucred = option(fd, SOL_SOCKET, SO_PEERCRED, 12);
      const pid = ucred.readInt32LE(0);
      return { pid: pid > 0 ? pid : null, uid: ucred.readUInt32LE(4), gid: ucred.readUInt32LE(8) };
    },
    peerPidfd(fd) {
      try {
        return option(fd, SOL_SOCKET, SO_PEERPIDFD, 4).readInt32LE(0);
      } catch (error) {
        if (hasCode(error, 'ENOPROTOOPT')) return null;
        throw error;
      }
    },
    openat2NoMagicLinks: openat2(libc),
    mountsChanged: pollPriority(libc),
  };
}

function darwin(libc: Libc): Native {
  const option = socketOption(libc);
  const SOL_LOCAL = 0;
  const LOCAL_PEERCRED = 1;
  const LOCAL_PEERPID = 2;
  return {
    ...common(libc, { cloexec: 0, doNotWait: 0x80, noSignal: 0, duplicate: 67 }),
    peerCredentials(fd) {
      // struct xucred: version, uid, number of groups (padded), 16 groups of which the first is the effective one.
      const xucred = option(fd, SOL_LOCAL, LOCAL_PEERCRED, 76);
      const pid = option(fd, SOL_LOCAL, LOCAL_PEERPID, 4).readInt32LE(0);
      return { pid: pid > 0 ? pid : null, uid: xucred.readUInt32LE(4), gid: xucred.readUInt32LE(12) };
    },
    peerPidfd: () => null,
    openat2NoMagicLinks() {
      throw errnoError(constants.errno.ENOSYS, 'openat2');
    },
    mountsChanged: () => false,
  };
}

interface Flags {
  /** F_DUPFD_CLOEXEC */
  readonly duplicate: number;
  readonly cloexec: number;
  readonly doNotWait: number;
  readonly noSignal: number;
}

function common({ declare, checked }: Libc, flags: Flags) {
  const flock = checked('int flock(int fd, int operation)');
  const fcntl = checked('int fcntl(int fd, int command, ...)');
  const isReady = pollNow(checked);
  const socket = checked('int socket(int domain, int type, int protocol)');
  const sendto = checked('long sendto(int fd, void *data, size_t size, int flags, void *address, uint32_t length)');
  const close = declare('int close(int fd)');
  const LOCK_EX_NB = 2 | 4;
  const POLLIN = 1;
  const AF_UNIX = 1;
  const SOCK_DGRAM = 2;
  return {
    isAlive: (pidfd: number): boolean => !isReady(pidfd, POLLIN),
    duplicate: (fd: number): number => Number(fcntl(fd, flags.duplicate, 'int', 0)),
    tryLock(fd: number): boolean {
      try {
        flock(fd, LOCK_EX_NB);
        return true;
      } catch (error) {
        if (hasCode(error, 'EAGAIN')) return false;
        throw error;
      }
    },
    sendDatagram(address: string, text: string): void {
      const to = unixAddress(checkText(address, 'sendto'));
      const data = Buffer.from(checkText(text, 'sendto'));
      const fd = socket(AF_UNIX, SOCK_DGRAM | flags.cloexec, 0);
      try {
        sendto(fd, data, data.length, flags.doNotWait | flags.noSignal, to, to.length);
      } finally {
        close(fd);
      }
    },
  };
}

/** Asks without waiting whether one of these events, or an error, is there. */
function pollNow(checked: Libc['checked']) {
  const poll = again(checked('int poll(_Inout_ void *fds, unsigned long count, int timeout)'));
  const request = Buffer.alloc(8);
  return (fd: number, events: number): boolean => {
    request.writeInt32LE(fd, 0);
    request.writeInt32LE(events, 4);
    return Number(poll(request, 1, 0)) > 0;
  };
}

/** A signal may come in the middle of any call (EINTR), also of one that would not have waited. */
function again(call: Call): Call {
  return (...args) => {
    for (;;) {
      try {
        return call(...args);
      } catch (error) {
        if (!hasCode(error, 'EINTR')) throw error;
      }
    }
  };
}

function pollPriority({ checked }: Libc): Native['mountsChanged'] {
  const isReady = pollNow(checked);
  const POLLPRI = 2;
  return (fd) => isReady(fd, POLLPRI);
}

function socketOption({ checked }: Libc) {
  const getsockopt = checked('int getsockopt(int fd, int level, int option, _Out_ void *value, _Inout_ void *size)');
  return (fd: number, level: number, option: number, size: number): Buffer => {
    const value = Buffer.alloc(size);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(size);
    getsockopt(fd, level, option, value, length);
    return value;
  };
}

function openat2({ checked }: Libc): Native['openat2NoMagicLinks'] {
  const syscall = again(checked('long syscall(long number, long directory, const char *path, void *how, size_t size)'));
  const OPENAT2 = 437;
  const AT_FDCWD = -100;
  const O_PATH_CLOEXEC = 0o12000000n;
  const RESOLVE_NO_MAGICLINKS = 2n;
  return (path) => {
    const how = new BigUint64Array([O_PATH_CLOEXEC, 0n, RESOLVE_NO_MAGICLINKS]);
    return Number(syscall(OPENAT2, AT_FDCWD, checkText(path, 'openat2'), how, how.byteLength));
  };
}

function checkedBy(declare: Declare, errno: () => number) {
  return (definition: string): Call => {
    const name = /(\w+)\(/.exec(definition)?.[1] ?? definition;
    const call = declare(definition);
    return (...args) => {
      const result = call(...args);
      if (result < 0) throw errnoError(errno(), name);
      return result;
    };
  };
}

/** A `struct sockaddr_un`: a path ends with NUL, an abstract name starts with one and has its exact length. */
function unixAddress(address: string): Buffer {
  const AF_UNIX = 1;
  const abstract = address.startsWith('@');
  const name = Buffer.from(abstract ? `\0${address.slice(1)}` : `${address}\0`);
  if (name.length > maxSocketPathBytes(process.platform) + 1) throw errnoError(constants.errno.ENAMETOOLONG, 'sendto');
  const head = process.platform === 'darwin' ? [name.length + 2, AF_UNIX] : [AF_UNIX, 0];
  return Buffer.concat([Buffer.from(head), name]);
}

function checkText(text: string, syscall: string): string {
  if (text.includes('\0') || /\p{Surrogate}/u.test(text)) throw errnoError(constants.errno.EINVAL, syscall);
  return text;
}

/** Made anew by each call of getSystemErrorMap(). */
const ERRORS: ReadonlyMap<number, readonly [code: string, description: string]> = getSystemErrorMap();

/** Without a stack: what is not there is asked for thousands of times in a sweep, and a stack costs more than the call. */
function errnoError(errno: number, syscall: string): NodeJS.ErrnoException {
  const [code, description] = ERRORS.get(-errno) ?? [`E${errno}`, 'unknown error'];
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const error = new Error(`${code}: ${description}, ${syscall}`);
  Error.stackTraceLimit = stackTraceLimit;
  return Object.assign(error, { code, errno: -errno, syscall });
}

function hasCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}
