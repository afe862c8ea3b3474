// Real servers of the npm registry, started by Node without npx: the tests need no network.

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(import.meta.url);

/** Takes directories by argv, and roots in their place where the host offers them. */
export const FILESYSTEM = binOf('@modelcontextprotocol/server-filesystem');
/**
 * Takes directories by argv alone: it has never heard of roots. Installed under another name: its program is called like
 * that of the one above, which `npx` must find when somebody tries it in this checkout.
 */
export const ARGV_FILESYSTEM = binOf('argv-only-filesystem');

/** Asks for roots, shows them, and touches no file. */
export const EVERYTHING = binOf('@modelcontextprotocol/server-everything');
/** Keeps one file, whose path is in a variable. */
export const MEMORY = binOf('@modelcontextprotocol/server-memory');
/** Keeps its projects in a directory that is in a variable. */
export const MEMORY_BANK = binOf('@allpepper/memory-bank-mcp');
/** Refuses repositories outside of a directory that is in a variable. */
export const GIT = binOf('@cyanheads/git-mcp-server');

/** The one program of a package, also where its `exports` do not show its package.json. */
function binOf(name: string): string {
  const places = (require.resolve.paths(name) ?? []).map((modules) => join(modules, name));
  const directory = places.find((place) => existsSync(join(place, 'package.json'))) ?? name;
  const { bin } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as {
    readonly bin: Readonly<Record<string, string>>;
  };
  return join(directory, Object.values(bin)[0] ?? '');
}
