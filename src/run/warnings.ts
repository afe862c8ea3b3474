// What `run` says before anything goes wrong. Each is one sentence for the person who wrote the host's configuration.

import { statSync } from 'node:fs';
import type { RefusedRequest } from '../client/connection.ts';
import { shellQuoted } from '../core/display.ts';
import type { AccessReply, LaunchPlan, WireViewEntry } from '../core/protocol.ts';
import { MountTable } from '../disk/mounts.ts';
import { SlowMounts } from '../disk/slow-mounts.ts';
import { VERSION } from '../version.ts';
import { hasPlaceholders } from './placeholders.ts';
import { refusalOf } from './refusal.ts';

/** About the command line: what nobody will expand, and what the roots will replace. `mountInfo`: tests have another. */
export function argumentWarnings(args: readonly string[], plan: LaunchPlan, mountInfo?: string): readonly string[] {
  const tildes = args.filter((arg) => arg === '~' || arg.startsWith('~/'));
  const paths = plan.roots && !hasPlaceholders(args) ? args.filter((arg) => arg.startsWith('/')) : [];
  const replaced = paths.length === 0 ? [] : directoriesOf(paths, mountInfo);
  return [
    ...tildes.map((arg) => `Argument "${arg}" reaches the server as it is: no shell expands "~" here`),
    ...replaced.map((arg) => `Directory "${arg}" of the command line may be replaced by the roots of the policy`),
  ];
}

/** Where the daemon is older or newer than we are: an update has reached one of the two. */
export function otherVersion({ version }: LaunchPlan): string {
  return `The daemon is rootsd ${version}, this is rootsd ${VERSION}: start the older of the two again`;
}

/** As decisions say it (core/match-peer). */
const OTHER_COMMAND = /a fact is missing: server "[^"]+": (?:[a-z0-9]+, )*command\b/;
/** How many reasons one sentence can hold. */
const MAX_REASONS = 3;

/** Where nothing is allowed: why, what was read, and what to do about it. */
export function nothingAllowed(
  { server, command }: { readonly server: string | null; readonly command: readonly string[] },
  plan: LaunchPlan,
  view: readonly WireViewEntry[],
): string {
  const { policyFiles, policyFileCount, policyDirectories, policyState } = plan;
  const name = server === null ? 'this server, which has no name (--server)' : `server "${server}"`;
  if (policyState === 'lockdown') {
    return `No directory is allowed to ${name}: the policy is broken and no good one is known; see "rootsd check"`;
  }
  const reasons = [...new Set(view.map(whyNot))].slice(0, MAX_REASONS).map((reason) => `; ${reason}`);
  const more = policyFileCount - policyFiles.length;
  const read =
    policyFiles.length === 0
      ? `no policy file was found in ${policyDirectories.join(' and ')}`
      : `read: ${policyFiles.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
  return `No directory is allowed to ${name} (${read})${reasons.join('')}; ${adviceFor({ server, command }, plan, view)}`;
}

/** A rule for a server that was started by other words than those that are declared helps nobody. */
function adviceFor(
  { server, command }: Parameters<typeof nothingAllowed>[0],
  { declared }: LaunchPlan,
  view: readonly WireViewEntry[],
): string {
  if (server !== null && declared !== undefined) {
    const { command: words, file, line } = declared;
    return `server "${server}" was started by ${wordsText(command)}, but its command is ${wordsText(words)} in ${file}:${line}: make both the same, or leave "command" out there`;
  }
  if (server !== null && view.some(({ why }) => OTHER_COMMAND.test(why))) {
    return `compare the words behind "--" with "command" of server "${server}" in the policy, or leave "command" out there`;
  }
  return `"rootsd allow PATH --server ${server ?? 'NAME'}" allows a directory`;
}

const MAX_COMMAND_CHARACTERS = 300;

/** As a shell would take them. */
function wordsText(words: readonly string[]): string {
  const text = words.map(shellQuoted).join(' ');
  return text.length <= MAX_COMMAND_CHARACTERS ? text : `${text.slice(0, MAX_COMMAND_CHARACTERS)}…`;
}

function whyNot({ effect, available, why }: WireViewEntry): string {
  return effect === 'allow' && available ? "the host's own roots leave nothing of what is allowed" : why;
}

export const NEVER_ASKED = 'The server has not asked for roots: they restrict it only if it does';

/** A call waits for it, or was refused because nobody sees it. */
export function waitsForPerson({ id, root, access }: AccessReply['questions'][number]): string {
  const answer = (how: string): string => `"rootsd consent ${how} ${id}"`;
  return `A call asks for ${access} access to root "${root}": ${answer('approve')} gives it, ${answer('deny')} does not`;
}

/** Why the view was dropped after 30 s without a daemon: it is not there, or it is and says why it does not take us back. */
export function daemonLost(refusal: RefusedRequest | null): string {
  if (refusal === null) return 'The daemon has been gone for 30 s: nothing is allowed until it is back';
  return `${refusalOf(refusal).error.message}: nothing is allowed until the daemon takes this server back`;
}

/** Those that are directories. What lies on a mount that may hang is not looked at: for a warning nobody waits. */
function directoriesOf(paths: readonly string[], mountInfo?: string): readonly string[] {
  const slow = new SlowMounts(new MountTable(mountInfo === undefined ? {} : { file: mountInfo }));
  return paths.filter((path) => slow.onTheWay(path) === null && isDirectory(path));
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
