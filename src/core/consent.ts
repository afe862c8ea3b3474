// What a consent is bound to: who asked, for which place, under exactly which rule. If one of these is another one, nobody
// has consented (docs/consent.md).

import type { Access } from './access.ts';
import { type PathPattern, patternPath } from './pattern.ts';
import type { Peer } from './peer.ts';
import type { Place } from './place.ts';
import type { Policy, Selectors } from './policy.ts';
import type { Rule, Target } from './rule.ts';

/** Where a rule says nothing. */
export const DEFAULT_SCOPES: readonly string[] = ['session', '8h'];

/** How long a grant holds. */
export type Scope =
  /** `once`: until the call has ended that it was asked for; without a call as long as the session. */
  { readonly kind: 'once' | 'session' | 'always' } | { readonly kind: 'time'; readonly ms: number };

/** Grants that are not used for this long end, `always` ones too. */
export const IDLE_MS = 90 * 24 * 3_600_000;

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000 };
const MAX_SCOPE_MS = 24 * 3_600_000;

/** Reads `once`, `session`, `always`, `<n>m` or `<n>h` up to a day; null where it is none of these. */
export function parseScope(text: string): Scope | null {
  if (text === 'once' || text === 'session' || text === 'always') return { kind: text };
  const [, count, unit] = /^([1-9]\d{0,3})([mh])$/.exec(text) ?? [];
  const ms = Number(count) * (UNIT_MS[unit ?? ''] ?? Number.NaN);
  return ms <= MAX_SCOPE_MS ? { kind: 'time', ms } : null;
}

/** Does it end with the session, at the latest? */
export function endsWithSession(scope: string): boolean {
  return scope === 'once' || scope === 'session';
}

/** The scopes that a rule offers in a place. A sensitive one is never open longer than a session. */
export function scopesOf(rule: Rule, isSensitive: boolean): readonly string[] {
  const scopes = rule.scopes.length === 0 ? DEFAULT_SCOPES : rule.scopes;
  if (!isSensitive) return scopes;
  const short = scopes.filter(endsWithSession);
  return short.length === 0 ? ['session'] : short;
}

/** What a person is asked about, and what an answer is bound to. */
export interface ConsentKey {
  /** All that is known of who asks and that stays the same when it is started again. */
  readonly facts: readonly string[];
  readonly uid: number;
  readonly path: string;
  /** `device:inode:birth`: a directory that took the place of another is another one. */
  readonly identity: string;
  readonly rule: string;
  /** SHA-256 of ruleText(). */
  readonly digest: string;
}

/** Equal for equal keys. */
export function keyText({ facts, uid, path, identity, rule, digest }: ConsentKey): string {
  return JSON.stringify([facts, uid, path, identity, rule, digest]);
}

/**
 * The facts that identify a peer to a person who consents. Numbers of processes are not among them. The working directory
 * is: `node server.js` is another program elsewhere.
 */
export function identityFacts({ observed, claimed, class: peerClass }: Peer): readonly string[] {
  const { server, host, launch } = claimed;
  const facts = [
    `class=${peerClass}`,
    server === null ? null : `server=${server}`,
    host === null ? null : `host=${host}`,
    observed?.listener === undefined ? null : `listener=${observed.listener}`,
    launch === undefined ? null : `command=${JSON.stringify(launch.argv)}`,
    launch === undefined ? null : `cwd=${launch.cwd}`,
    // Behind `run` the program is `run`, whatever the server.
    peerClass === 'launched' || observed?.exe === undefined ? null : `exe=${observed.exe}`,
  ];
  return facts.filter((fact) => fact !== null);
}

/**
 * What of such facts tells a person more than a name does: the listener that it has come in by, else its command line or
 * its program, as words; null where there is nothing but its name.
 */
export function knownBy(facts: readonly string[]): { readonly what: string; readonly words: readonly string[] } | null {
  const factOf = (name: string): string | undefined =>
    facts.find((fact) => fact.startsWith(`${name}=`))?.slice(name.length + 1);
  const [listener, command, exe] = ['listener', 'command', 'exe'].map(factOf);
  if (listener !== undefined) return { what: 'listener', words: [listener] };
  if (command !== undefined) return { what: 'command', words: JSON.parse(command) as readonly string[] };
  return exe === undefined ? null : { what: 'program', words: [exe] };
}

/**
 * All that a rule means: what it says, with the places and the selectors that stand behind its names. Where it stands in
 * its file is left out, so that a line above it changes nothing.
 */
export function ruleText(rule: Rule, policy: Pick<Policy, 'servers' | 'hosts'>): string {
  const { source, targets, except, servers = null, hosts = null, ...rest } = rule;
  const named = (names: readonly string[] | null, entries: ReadonlyMap<string, { readonly selectors: Selectors }>) =>
    names?.map((name) => [name, entries.get(name)?.selectors ?? null]) ?? null;
  return canonicalJson({
    ...rest,
    layer: source.layer,
    targets: targets.map(targetText),
    except: except.map(targetText),
    servers: named(servers, policy.servers),
    hosts: named(hosts, policy.hosts),
  });
}

function targetText(target: Target): readonly string[] {
  if (target.kind === 'path') return ['path', placeText(target.pattern)];
  return ['root', target.root, target.member ?? '*', placeText(target.place)];
}

function placeText(pattern: PathPattern): string {
  return patternPath(pattern);
}

/** JSON with the keys of every object in order: how an object was put together makes no difference. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, member) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}

/** What step 7 of a decision asks. */
export interface Asked {
  readonly peer: Peer;
  readonly place: Place;
  readonly rule: Rule;
  /** A grant of another scope does not count any more. */
  readonly scopes: readonly string[];
  readonly policy: Policy;
}

/** What people have answered. */
export type Answered =
  | {
      readonly state: 'granted';
      readonly access: Access;
      /** What had been asked for: whoever was asked for more has said no to the rest. */
      readonly asked: Access;
      /** For a person: since when, how long. */
      readonly why: string;
    }
  | { readonly state: 'refused'; readonly why: string };

/** The consent store as decisions see it. */
export interface Consents {
  /** null: nobody has answered. */
  answerTo(asked: Asked): Answered | null;
}
