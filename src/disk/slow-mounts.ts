// File systems that may not answer: a call that touches one can hang for ever, and a thread that hangs keeps the daemon
// from ending. Nothing here touches them: the mount table says where they are.

import { type Failure, failure } from './failure.ts';
import type { KernelWalk } from './kernel-walk.ts';
import { walkLinks } from './link-walk.ts';
import type { Mount } from './mount.ts';
import type { MountTable } from './mounts.ts';

/** Somebody else answers for these: a server, a process, another machine. `fuse.sshfs` and the like count as `fuse`. */
const SLOW_TYPES: ReadonlySet<string> = new Set([
  '9p',
  'afs',
  'autofs',
  'beegfs',
  'ceph',
  'cifs',
  'coda',
  'davfs',
  'fuse',
  'fuseblk',
  'glusterfs',
  'gpfs',
  'lustre',
  'ncpfs',
  'nfs',
  'nfs4',
  'orangefs',
  'prl_fs',
  'smb3',
  'smbfs',
  'vboxsf',
  'virtiofs',
]);

/** Can calls on a file system of this type hang? */
export function canHang(type: string): boolean {
  const [family = ''] = type.split('.');
  return SLOW_TYPES.has(type) || SLOW_TYPES.has(family);
}

/** Knows of a path, before anybody touches it, whether that may hang. */
export class SlowMounts {
  readonly #mounts: MountTable;
  #version = -1;
  /** Where they are: few, mostly none. */
  #points: readonly string[] = [];

  constructor(mounts: MountTable) {
    this.#mounts = mounts;
  }

  /** The slow mount in which a path without links lies, or null. */
  covering(path: string): Mount | null {
    const points = this.#slowPoints();
    if (points.length === 0 || !points.some((point) => path === point || path.startsWith(`${point}/`))) return null;
    const mount = this.#mounts.mountOf(path);
    return mount !== undefined && isSlow(mount) ? mount : null;
  }

  /** The slow mount that the way along a path enters first, or null. Links are followed up to there. */
  onTheWay(path: string): Mount | null {
    if (this.#slowPoints().length === 0) return null;
    let entered: Mount | null = null;
    walkLinks(path, (entry) => {
      entered = this.covering(entry);
      return entered === null;
    });
    return entered;
  }

  #slowPoints(): readonly string[] {
    const { version } = this.#mounts;
    if (version === this.#version) return this.#points;
    this.#version = version;
    this.#points = [...this.#mounts.all()].filter(isSlow).map(({ point }) => point);
    return this.#points;
  }
}

/** What holds `/` holds this program too: if that hangs, nothing is left to save. */
function isSlow({ type, point }: Mount): boolean {
  return canHang(type) && point !== '/';
}

/** A walk that enters no slow mount: its failure names the mount instead. */
export function guardWalk(walk: KernelWalk, slow: SlowMounts): KernelWalk {
  const guard =
    <T>(look: (path: string) => T | Failure) =>
    (path: string): T | Failure => {
      const mount = slow.onTheWay(path);
      if (mount === null) return look(path);
      return { ...failure('lies on a file system that may not answer'), slow: mount };
    };
  return { ...walk, reach: guard(walk.reach), locate: guard(walk.locate) };
}
