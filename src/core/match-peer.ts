// Who is it: does a rule's `servers`, `hosts` and `users` hold for a peer. Three answers, for a missing fact makes a
// deny match, an allow not match, an ask match (docs/policy.md, "How it is decided").

import type { ObservedProcess, Peer, User } from './peer.ts';
import type { Policy, Selectors, ServerEntry } from './policy.ts';
import type { Effect, Rule, UserSelector } from './rule.ts';

export type Match = 'yes' | 'no' | 'missing';

export interface PeerMatch {
  readonly match: Match;
  /** Facts the rule needs and the peer lacks: `host`, `server "git": command`. */
  readonly missing: readonly string[];
}

/** Is `argv` started by `command`: a prefix; the first word by base name unless absolute; a package also with `@version`. */
export function commandFits(command: readonly string[], argv: readonly string[]): boolean {
  if (command.length === 0 || command.length > argv.length) return false;
  return command.every((word, i) => {
    const actual = argv[i] ?? '';
    if (i === 0 && !word.startsWith('/')) return baseName(actual) === word;
    return actual === word || (i > 0 && actual.startsWith(`${word}@`) && actual.length > word.length + 1);
  });
}

/** The declared servers whose `command` fits what `rootsd run` starts: one names the peer, two are ambiguous. */
export function serversFor(policy: Policy, argv: readonly string[]): readonly ServerEntry[] {
  return [...policy.servers.values()].filter(
    ({ selectors }) => selectors.command !== undefined && commandFits(selectors.command, argv),
  );
}

/** Does the rule, or what else names peers, hold for who asks? Servers, hosts and users must all hold; omitted is any. */
export function matchPeer(rule: Pick<Rule, 'servers' | 'hosts' | 'users'>, peer: Peer, policy: Policy): PeerMatch {
  const missing: string[] = [];
  const parts = [
    rule.servers === undefined ? 'yes' : matchServers(rule.servers, peer, policy, missing),
    rule.hosts === undefined ? 'yes' : matchHosts(rule.hosts, peer, policy, missing),
    rule.users === undefined ? 'yes' : matchUsers(rule.users, peer.observed?.user ?? {}, missing),
  ];
  if (parts.includes('no')) return { match: 'no', missing: [] };
  return { match: parts.includes('missing') ? 'missing' : 'yes', missing };
}

/** Does a match of this kind count for a rule of this effect? */
export function counts(match: Match, effect: Effect): boolean {
  return match === 'yes' || (match === 'missing' && effect !== 'allow');
}

function matchServers(names: readonly string[], peer: Peer, policy: Policy, missing: string[]): Match {
  const claimed = peer.claimed.server;
  if (claimed === null) return lacks('server', missing);
  if (!names.includes(claimed)) return 'no';
  const selectors = policy.servers.get(claimed)?.selectors;
  if (selectors === undefined || peer.fulfils?.server) return 'yes';
  const failed = failedServerSelectors(selectors, peer);
  return failed.length === 0 ? 'yes' : lacks(`server "${claimed}": ${failed.join(', ')}`, missing);
}

function matchHosts(names: readonly string[], peer: Peer, policy: Policy, missing: string[]): Match {
  const claimed = peer.claimed.host;
  if (claimed === null) return lacks('host', missing);
  if (!names.includes(claimed)) return 'no';
  const selectors = policy.hosts.get(claimed)?.selectors;
  if (selectors === undefined || peer.fulfils?.host) return 'yes';
  const failed = failedHostSelectors(selectors, peer);
  return failed.length === 0 ? 'yes' : lacks(`host "${claimed}": ${failed.join(', ')}`, missing);
}

function lacks(fact: string, missing: string[]): Match {
  missing.push(fact);
  return 'missing';
}

/** A claim whose selectors fail counts as a missing fact, never as "somebody else". */
function failedServerSelectors(selectors: Selectors, peer: Peer): string[] {
  const { command, socket, exe, sha256 } = selectors;
  const launch = peer.class === 'claimed' ? undefined : peer.claimed.launch?.argv;
  return failedOf({
    command: command === undefined || (launch !== undefined && commandFits(command, launch)),
    socket: socket === undefined || peer.observed?.listener === socket,
    // Behind `run` the peer is `run`, not the server: its program says nothing.
    exe: exe === undefined || (peer.class !== 'launched' && peer.observed?.exe === exe),
    sha256: sha256 === undefined,
    require: classSuffices(selectors, peer),
  });
}

/** A host's selectors describe the parent of `rootsd run`. */
function failedHostSelectors(selectors: Selectors, peer: Peer): string[] {
  const { command, socket, exe, sha256 } = selectors;
  const parent: ObservedProcess | undefined = peer.class === 'launched' ? peer.observed?.parent : undefined;
  return failedOf({
    command: command === undefined || (parent?.argv !== undefined && commandFits(command, parent.argv)),
    socket: socket === undefined || peer.observed?.listener === socket,
    exe: exe === undefined || parent?.exe === exe,
    sha256: sha256 === undefined,
    require: classSuffices(selectors, peer),
  });
}

function failedOf(holds: Readonly<Record<string, boolean>>): string[] {
  return Object.entries(holds).flatMap(([name, held]) => (held ? [] : [name]));
}

function classSuffices({ require }: Selectors, peer: Peer): boolean {
  const order = ['claimed', 'launched', 'attested'];
  return require === undefined || order.indexOf(peer.class) >= order.indexOf(require);
}

function matchUsers(selectors: readonly UserSelector[], user: User, missing: string[]): Match {
  const matches = selectors.map((selector) => matchUser(selector, user));
  if (matches.includes('yes')) return 'yes';
  return matches.includes('missing') ? lacks('user', missing) : 'no';
}

function matchUser(selector: UserSelector, user: User): Match {
  switch (selector.kind) {
    case 'name':
      return known(user.name, (name) => name === selector.name);
    case 'uid':
      return known(user.uid, (uid) => uid === selector.uid);
    case 'group':
      return known(user.groups, (groups) => groups.includes(selector.group));
  }
}

function known<T>(fact: T | undefined, holds: (fact: T) => boolean): Match {
  if (fact === undefined) return 'missing';
  return holds(fact) ? 'yes' : 'no';
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
