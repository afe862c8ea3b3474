// Decisions of one session -> its roots, and what changed between two views.

import { type Access, higherAccess, lowerAccess } from './access.ts';
import { decideFor } from './decide.ts';
import type { Decision } from './decision.ts';
import { type Evidence, formsOfRoot } from './evidence.ts';
import { nestedIn } from './nested.ts';
import { type FileUri, type RealPath, toFileUri } from './path.ts';
import { patternPath } from './pattern.ts';
import type { Peer } from './peer.ts';
import type { Place, RootFacts } from './place.ts';
import { type Circumstances, type Standing, standingOf } from './standing.ts';
import { runAtOnce } from './steps.ts';

/** One root of a session with its decision, whether it is told or not. */
export interface ViewEntry {
  readonly root: string;
  readonly title: string;
  /** The real path where it is known, else the path as written. */
  readonly path: string;
  readonly facts: RootFacts;
  readonly decision: Decision;
  readonly available: boolean;
  /** Of an allowed root that is not available what is wrong with it, else the decision's reason. */
  readonly why: string;
}

/** A root that is told and enforced. */
export interface ToldRoot {
  readonly root: string;
  readonly title: string;
  readonly uri: FileUri;
  readonly path: RealPath;
  readonly identity: string;
  readonly access: Access;
  readonly carved: readonly string[];
}

/** A root that is there, and that a person could give, or more of it than holds; or has refused to. */
export interface OfferedRoot {
  readonly root: string;
  readonly path: RealPath;
  readonly identity: string;
  /** What could be given; null: a person has refused. */
  readonly access: Access | null;
  readonly carved: readonly string[];
}

/** The full, ordered result for one session. */
export interface View {
  readonly entries: readonly ViewEntry[];
  readonly told: readonly ToldRoot[];
  readonly offers: readonly OfferedRoot[];
}

/** What a session has before its first view. */
export const EMPTY_VIEW: View = { entries: [], told: [], offers: [] };

/** Decides about every root for one peer. Order: layer from the top, file name, position, member by code point. */
export function buildView(evidence: Evidence, peer: Peer, circumstances: Circumstances): View {
  return runAtOnce(viewInSteps(evidence, peer, circumstances));
}

/** The same, a root a step. */
export function* viewInSteps(evidence: Evidence, peer: Peer, circumstances: Circumstances): Generator<void, View> {
  const standing = standingOf(evidence, peer, circumstances);
  const entries: ViewEntry[] = [];
  const held: Held[] = [];
  const offers: OfferedRoot[] = [];
  for (const root of evidence.roots) {
    const decision = decideFor(standing, root);
    entries.push(entryOf(root, decision));
    const { effect, access } = decision;
    if (root.available && root.place !== null) {
      const { place } = root;
      const carved = () => carvedFrom(standing, root);
      if (effect === 'allow' && access !== null) held.push({ root, place, access, carved: carved() });
      if (isOffered(decision)) offers.push({ root: root.name, ...place, access: decision.askable, carved: carved() });
    }
    yield;
  }
  return { entries, told: yield* tellHeld(held), offers };
}

function isOffered({ askable, kind }: Decision): boolean {
  return askable !== null || kind === 'refused';
}

/**
 * What both views tell, with the lower access, a root a step: never more than the first, and nothing that the second does
 * not tell. Of a root that falls away it says why.
 */
export function* narrowInSteps(view: View, limit: View): Generator<void, View> {
  const limits = new Map(limit.told.map((root) => [root.path, root]));
  const told: ToldRoot[] = [];
  const lost = new Set<string>();
  for (const root of view.told) {
    const other = limits.get(root.path);
    if (other?.identity === root.identity) told.push(narrowed(root, other));
    else lost.add(root.path);
    yield;
  }
  const reasons = reasonsByPath(limit);
  const entries: ViewEntry[] = [];
  for (const entry of view.entries) {
    const why = reasons.get(entry.path) ?? 'the new policy does not declare it';
    entries.push(lost.has(entry.path) ? { ...entry, available: false, why } : entry);
    yield;
  }
  return { entries, told, offers: offersOfBoth(view, limit) };
}

/** What the second view does not offer may be what it denies. */
function offersOfBoth({ offers }: View, limit: View): readonly OfferedRoot[] {
  const known = new Set(limit.offers.map(offerText));
  return offers.filter((offer) => known.has(offerText(offer)));
}

function offerText({ path, identity, access, carved }: OfferedRoot): string {
  return JSON.stringify([path, identity, access, carved]);
}

function narrowed(root: ToldRoot, limit: ToldRoot): ToldRoot {
  const access = lowerAccess(root.access, limit.access) ?? root.access;
  return { ...root, access, carved: [...new Set([...root.carved, ...limit.carved])] };
}

/** Of several roots of one place the first one's. */
function reasonsByPath({ entries }: View): ReadonlyMap<string, string> {
  return new Map(entries.map(({ path, why }): [string, string] => [path, why]).reverse());
}

/** Would a peer that holds the one list see no difference in the other? Identity counts: same path, other directory. */
export function sameTold(a: View, b: View): boolean {
  return a.told.length === b.told.length && a.told.every((root, i) => sameRoot(root, b.told[i]));
}

/** Do both views say the same of every root, told or not? In which line a rule stands is not said. */
export function sameView(a: View, b: View): boolean {
  return (
    sameTold(a, b) &&
    a.entries.length === b.entries.length &&
    a.entries.every((entry, i) => saysSame(entry, b.entries[i])) &&
    a.offers.length === b.offers.length &&
    a.offers.every((offer, i) => sameOffer(offer, b.offers[i]))
  );
}

function sameOffer(a: OfferedRoot, b: OfferedRoot | undefined): boolean {
  return b !== undefined && a.root === b.root && offerText(a) === offerText(b);
}

/** The title of a root as it is told: its own, else the base name of a member, else its name. */
function titleOf(root: RootFacts): string {
  const member = root.name.slice(root.declaration.name.length + 1);
  return member !== '' ? member : (root.declaration.title ?? root.name);
}

interface Held {
  readonly root: RootFacts;
  readonly place: Place;
  readonly access: Access;
  readonly carved: readonly string[];
}

/** What is cut out of an allowed root. */
function carvedFrom(standing: Standing, root: RootFacts): readonly string[] {
  return root.declaration.nested === 'carve' ? nestedIn(standing, root, formsOfRoot(root)).carved : [];
}

/** Two roots that are the same place are told once, under the first name; a place gets the highest access around it. */
function* tellHeld(held: readonly Held[]): Generator<void, ToldRoot[]> {
  const access = new Map<string, Access>();
  for (const { place, access: granted } of held) {
    access.set(place.path, higherAccess(access.get(place.path) ?? null, granted) ?? granted);
  }
  const told = new Map<string, ToldRoot>();
  for (const { root, place, carved } of held) {
    const known = told.get(place.path) ?? {
      ...toldRoot(root, place),
      access: accessAt(place.path, access),
      carved: [],
    };
    told.set(
      place.path,
      carved.length === 0 ? known : { ...known, carved: [...new Set([...known.carved, ...carved])] },
    );
    yield;
  }
  return [...told.values()];
}

function accessAt(path: RealPath, granted: ReadonlyMap<string, Access>): Access {
  let highest: Access = 'read-only';
  for (let at: string = path; ; at = at.slice(0, at.lastIndexOf('/')) || '/') {
    if (granted.get(at) === 'read-write') highest = 'read-write';
    if (at === '/') return highest;
  }
}

function toldRoot(root: RootFacts, { path, identity }: Place): Omit<ToldRoot, 'access' | 'carved'> {
  return { root: root.name, title: titleOf(root), uri: toFileUri(path), path, identity };
}

function entryOf(root: RootFacts, decision: Decision): ViewEntry {
  const why = decision.effect === 'allow' && !root.available ? root.unavailable : decision.why;
  const path = root.place?.path ?? patternPath(root.written);
  return { root: root.name, title: titleOf(root), path, facts: root, decision, available: root.available, why };
}

function saysSame(a: ViewEntry, b: ViewEntry | undefined): boolean {
  if (b === undefined || a.root !== b.root || a.available !== b.available || a.why !== b.why) return false;
  const [one, other] = [a.decision, b.decision];
  return one.effect === other.effect && one.kind === other.kind && one.access === other.access;
}

function sameRoot(a: ToldRoot, b: ToldRoot | undefined): boolean {
  if (b === undefined || a.uri !== b.uri || a.title !== b.title) return false;
  return a.access === b.access && a.identity === b.identity && sameCarved(a, b);
}

function sameCarved(a: ToldRoot | undefined, b: ToldRoot | undefined): boolean {
  return a?.carved.join('\0') === b?.carved.join('\0');
}

export interface RootChange {
  readonly path: string;
  readonly root: string;
  /** null: not told (before or after). */
  readonly from: Access | null;
  readonly to: Access | null;
  readonly rule: string | null;
  readonly why: string;
}

/** What came, went or changed its access between two lists, with the reason that holds now; a root a step. */
export function* changesInSteps(before: View, after: View): Generator<void, readonly RootChange[]> {
  const [was, is] = [toldByPath(before), toldByPath(after)];
  const entries = new Map(after.entries.map((entry) => [entry.root, entry]));
  const changes: RootChange[] = [];
  for (const path of new Set([...was.keys(), ...is.keys()])) {
    const [from, to] = [was.get(path), is.get(path)];
    const root = (to ?? from)?.root ?? '';
    if (!isUnchanged(from, to)) changes.push({ path, root, ...accessChange(from, to), ...reasonOf(entries.get(root)) });
    yield;
  }
  return changes;
}

function isUnchanged(from: ToldRoot | undefined, to: ToldRoot | undefined): boolean {
  const isSame = from?.access === to?.access && from?.identity === to?.identity && from?.title === to?.title;
  return isSame && sameCarved(from, to);
}

function accessChange(from: ToldRoot | undefined, to: ToldRoot | undefined): Pick<RootChange, 'from' | 'to'> {
  return { from: from?.access ?? null, to: to?.access ?? null };
}

function reasonOf(entry: ViewEntry | undefined): Pick<RootChange, 'rule' | 'why'> {
  return { rule: entry?.decision.rule?.id ?? null, why: entry?.why ?? 'it is not declared any more' };
}

/** A place is told once. */
function toldByPath({ told }: View): ReadonlyMap<RealPath, ToldRoot> {
  return new Map(told.map((root) => [root.path, root]));
}
