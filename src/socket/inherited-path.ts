import { readFileSync, readlinkSync } from 'node:fs';

/** Linux's table of Unix sockets: seven columns, the last of them the inode, then the path. */
const TABLE = '/proc/self/net/unix';
const ROW = /^(?:\S+ +){6}(?<inode>\d+) (?<path>\/.*)$/;

/** The path that an inherited socket was bound to, which Node does not tell; null where nobody says it. */
export function pathOfSocket(fd: number): string | null {
  try {
    const [, inode] = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${fd}`)) ?? [];
    const rows = readFileSync(TABLE, 'utf8')
      .split('\n')
      .map((row) => ROW.exec(row)?.groups);
    return rows.find((row) => row !== undefined && row.inode === inode)?.path ?? null;
  } catch {
    return null;
  }
}
