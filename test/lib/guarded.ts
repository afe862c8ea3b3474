// A server on RootsGuard, connected to a client whose list a test chooses.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { RootsGuard, type RootsGuardOptions } from '../../src/lib/roots-guard.ts';
import { type Connected, connected, type Root, type Sdk } from './connected.ts';

export type { Root } from './connected.ts';

export const TREE = ['file a/f in a', 'dir a/sub', 'file b/f in b', 'file out/secret no', 'link a/out -> ../out'];

export interface Setting extends RootsGuardOptions {
  /** What the client lists, changed at will; a function is called. null: it offers none. */
  list: readonly Root[] | (() => unknown) | null;
}

export interface Guarded extends Connected {
  readonly guard: RootsGuard;
  /** How often the client was asked. */
  readonly asked: () => number;
  readonly warnings: readonly string[];
}

/** A server whose tool does what the test says, behind a guard. */
export async function guarded(
  t: TestContext,
  sdk: Sdk,
  setting: Setting,
  run: (guard: RootsGuard) => Promise<unknown>,
): Promise<Guarded> {
  const held: { guard?: RootsGuard } = {};
  const warnings: string[] = [];
  let count = 0;
  const { list, ...options } = setting;
  const server = await connected(t, sdk, {
    list:
      list === null
        ? null
        : () => {
            count += 1;
            const { list: now } = setting;
            return typeof now === 'function' ? now() : { roots: now };
          },
    setUp: (target) => {
      const guard = new RootsGuard(target, options);
      guard.on('warning', (sentence) => warnings.push(sentence));
      held.guard = guard;
      const handle = guard.handler((_args: never, _context: unknown) => run(guard));
      return (args, context) => handle(args, context);
    },
  });
  const { guard } = held;
  assert.ok(guard);
  return { ...server, guard, asked: () => count, warnings };
}

export function root(path: string, access?: string): Root {
  const uri = pathToFileURL(path).href;
  return access === undefined ? { uri } : { uri, _meta: { 'io.rootsd/access': access } };
}

export const pathsOf = async (guard: RootsGuard) => (await guard.roots()).map(({ path }) => path);
