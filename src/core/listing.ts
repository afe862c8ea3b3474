/** What an entry of a directory is to somebody who may see it; a link counts as what it leads to. */
export type EntryKind = 'directory' | 'file';

export interface ListedEntry {
  readonly name: string;
  readonly kind: EntryKind;
}
