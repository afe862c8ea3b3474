// Which file systems are mounted where, as the kernel tells this process. A mount changes what a path means without any
// event of the directory: it is seen here.

import { closeSync, openSync, readFileSync } from 'node:fs';
import { parentOf } from '../core/path.ts';
import { failureOf } from './failure.ts';
import type { Mount } from './mount.ts';

/** Something is mounted, unmounted or mounted otherwise (read-only, say) at a point. */
export interface MountChange {
  readonly point: string;
  /** null: nothing is, or was, mounted there. */
  readonly before: Mount | null;
  readonly after: Mount | null;
}

export interface MountTableOptions {
  /** Of the native layer: has the table changed since it was asked last about this descriptor? Else it is read to know. */
  readonly mountsChanged?: (fd: number) => boolean;
  readonly file?: string;
}

/** The mounts of this process; empty where the system does not list them (macOS). */
export class MountTable implements Disposable {
  readonly #file: string;
  readonly #hasChanged: () => boolean;
  readonly #fd: number | null;
  #text = '';
  #changes: MountChange[] = [];
  #version = 0;
  /** By point, what is mounted last on top. */
  #byPoint: ReadonlyMap<string, Mount> = new Map();
  /** By what they are attached to: a mount may lie hidden below a later one. */
  #attached: ReadonlyMap<string, Mount> = new Map();
  #base: Mount | null = null;
  #around: { readonly parent: string; readonly mount: Mount | null } | null = null;

  constructor({ mountsChanged, file = '/proc/self/mountinfo' }: MountTableOptions = {}) {
    this.#file = file;
    this.#fd = mountsChanged === undefined ? null : openToPoll(file);
    const fd = this.#fd;
    this.#hasChanged = fd === null || mountsChanged === undefined ? () => true : () => mountsChanged(fd);
    this.#read();
  }

  /** Can it be asked for changes at next to no cost? */
  get isPolled(): boolean {
    return this.#fd !== null;
  }

  /** Another number whenever another table has been read. */
  get version(): number {
    return this.#version;
  }

  /** Reads the table anew if need be. */
  refresh(): void {
    if (this.#hasChanged()) this.#changes.push(...this.#read());
  }

  /** Has something changed since takeChanges() was asked last, as far as it is read? */
  get hasChanges(): boolean {
    return this.#changes.length > 0;
  }

  /** What has changed since it was asked last. */
  takeChanges(): readonly MountChange[] {
    this.refresh();
    return this.#changes.splice(0);
  }

  all(): Iterable<Mount> {
    return this.#byPoint.values();
  }

  /** The mount in which an absolute path lies whose components are no links; undefined where that is not known. */
  mountOf(path: string): Mount | undefined {
    return (path === '/' ? this.#topmost(this.#base, '/') : this.#topmost(this.#mountAround(path), path)) ?? undefined;
  }

  /** Is this the top directory of a mount? */
  isMountPoint(path: string): boolean {
    return this.#byPoint.has(path) && this.mountOf(path)?.point === path;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
  }

  /** The mount in which the directory above lies. Asked about many entries of one directory in a row it walks once. */
  #mountAround(path: string): Mount | null {
    const parent = parentOf(path);
    if (this.#around?.parent === parent) return this.#around.mount;
    let mount = this.#topmost(this.#base, '/');
    for (let end = path.indexOf('/', 1); end !== -1; end = path.indexOf('/', end + 1)) {
      mount = this.#topmost(mount, path.slice(0, end));
    }
    this.#around = { parent, mount };
    return mount;
  }

  #topmost(mount: Mount | null, point: string): Mount | null {
    if (!this.#byPoint.has(point)) return mount;
    let top = mount;
    for (let next = top; next !== null; next = this.#attached.get(keyOf(next.id, point)) ?? null) top = next;
    return top;
  }

  #read(): readonly MountChange[] {
    const text = readText(this.#file);
    if (text === this.#text) return [];
    this.#text = text;
    this.#version += 1;
    this.#around = null;
    const mounts = parseMountInfo(text);
    const before = this.#byPoint;
    this.#byPoint = new Map(mounts.map((mount) => [mount.point, mount]));
    this.#attached = new Map(mounts.map((mount) => [keyOf(mount.parent, mount.point), mount]));
    const known = new Set(mounts.map(({ id }) => id));
    this.#base = mounts.find(({ point, parent }) => point === '/' && !known.has(parent)) ?? null;
    return changesBetween(before, this.#byPoint);
  }
}

/** Reads lines of /proc/self/mountinfo; what is no such line is left out. */
export function parseMountInfo(text: string): readonly Mount[] {
  return text.split('\n').flatMap((line) => {
    const [left = '', right = ''] = line.split(' - ');
    const [id, parent, , , point, options = ''] = left.split(' ');
    const [type, , superOptions = ''] = right.split(' ');
    if (id === undefined || parent === undefined || point === undefined || type === undefined) return [];
    const isReadOnly = [options, superOptions].some((list) => list.split(',').includes('ro'));
    return [{ id, parent, point: plainName(point), type, isReadOnly }];
  });
}

/** The kernel writes blanks, line ends and backslashes of a name as `\040`. */
function plainName(name: string): string {
  return name.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

function changesBetween(before: ReadonlyMap<string, Mount>, after: ReadonlyMap<string, Mount>): readonly MountChange[] {
  const points = new Set([...before.keys(), ...after.keys()]);
  return [...points].flatMap((point) => {
    const [was = null, is = null] = [before.get(point), after.get(point)];
    const isSame = was?.id === is?.id && was?.type === is?.type && was?.isReadOnly === is?.isReadOnly;
    return isSame ? [] : [{ point, before: was, after: is }];
  });
}

function keyOf(parent: string, point: string): string {
  return `${parent} ${point}`;
}

function openToPoll(file: string): number | null {
  try {
    return openSync(file, 'r');
  } catch (error) {
    failureOf(error);
    return null;
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    failureOf(error);
    return '';
  }
}
