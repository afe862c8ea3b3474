/** A file system, and where it is mounted. */
export interface Mount {
  readonly id: string;
  /** The mount that it is attached to. */
  readonly parent: string;
  /** Where it is mounted, free of links. */
  readonly point: string;
  /** `ext4`, `fuse.sshfs` */
  readonly type: string;
  readonly isReadOnly: boolean;
}
