// The decision again, as plainly as docs/policy.md says it: strings, loops, no cleverness. Property tests hold both together.
import type { Access } from '../../src/core/access.ts';
import type { RandomPeer, RandomRoot, RandomRule, RandomWorld } from './random-policy.ts';

const parts = (path: string): string[] => path.split('/').slice(1);
const fits = (pattern: string | undefined, part: string | undefined): boolean => pattern === '*' || pattern === part;

const covers = (outer: string, inner: string): boolean =>
  parts(outer).length <= parts(inner).length && parts(outer).every((part, i) => fits(part, parts(inner)[i]));
const liesInside = (inner: string, outer: string): boolean =>
  parts(inner).length > parts(outer).length && parts(outer).every((part, i) => fits(parts(inner)[i], part));

function who(rule: RandomRule, peer: RandomPeer): 'yes' | 'no' | 'missing' {
  const one = (wanted: readonly string[] | undefined, name: string | null): 'yes' | 'no' | 'missing' =>
    wanted === undefined || (name !== null && wanted.includes(name)) ? 'yes' : name === null ? 'missing' : 'no';
  const names = { users: rule.users?.map(String), uid: peer.uid === null ? null : String(peer.uid) };
  const all = [one(rule.servers, peer.server), one(rule.hosts, peer.host), one(names.users, names.uid)];
  return all.includes('no') ? 'no' : all.includes('missing') ? 'missing' : 'yes';
}

export function referenceDecision(
  world: RandomWorld,
  peer: RandomPeer,
  root: RandomRoot,
  carves = false,
): { effect: string; kind: string; access: Access | null } {
  // Every spelling of a place counts, but for ceilings, which look at where it really is.
  const formsOf = (one: RandomRoot): readonly string[] => (one.real === undefined ? [one.path] : [one.path, one.real]);
  const forms = formsOf(root);
  const real = root.real ?? root.path;
  const anyCovers = (outer: readonly string[], inner: readonly string[]): boolean =>
    outer.some((o) => inner.some((i) => covers(o, i)));
  const anyInside = (inner: readonly string[], outer: readonly string[]): boolean =>
    inner.some((i) => outer.some((o) => liesInside(i, o)));
  const deny = (kind: string) => ({ effect: 'deny', kind, access: null });
  const place = (item: string): string =>
    item.startsWith('/') ? item : (world.roots.find(({ name }) => name === item)?.path ?? '');

  const denies = world.rules.filter((rule) => rule.effect === 'deny' && who(rule, peer) !== 'no');
  for (const rule of denies) {
    for (const form of forms) {
      const excepted = rule.except.some((except) => covers(except, form));
      if (!excepted && rule.items.some((item) => covers(place(item), form))) return deny('explicit');
    }
  }
  for (const ceiling of world.ceilings) {
    if (!ceiling.some((item) => covers(item.path, real))) return deny('ceiling');
  }
  const secrets = world.roots.filter((other) => other.sensitive).flatMap(formsOf);
  // Only single places that the layer of the roots denies can be cut out.
  const isCut = (rule: RandomRule, item: string): boolean =>
    carves && root.nested === 'carve' && rule.layer === 'system' && !place(item).includes('*');
  const denied = denies.flatMap((rule) => rule.items.filter((item) => !isCut(rule, item)).map(place));
  if (anyInside([...denied, ...secrets], forms)) return deny('nested');

  const named = world.rules.filter((rule) => rule.effect !== 'deny' && rule.items.includes(root.name));
  const meant = named.filter((rule) => who(rule, peer) !== 'no' && !anyCovers(rule.except, forms));
  const whole = meant.filter((rule) => !anyInside(rule.except, forms));
  const allows = whole.filter((rule) => rule.effect === 'allow' && who(rule, peer) === 'yes');
  const asks = whole.filter((rule) => rule.effect === 'ask');
  const secret = root.sensitive || anyCovers(secrets, forms);
  const mandatory = secret ? [...allows, ...asks] : asks.filter((rule) => rule.mandatory);

  const caps: (Access | undefined)[] = world.roots
    .filter((other) => anyCovers(formsOf(other), forms) || anyInside(formsOf(other), forms))
    .map((other) => other.access);
  for (const ceiling of world.ceilings) {
    const over = ceiling.filter((item) => covers(item.path, real)).map((item) => item.access ?? 'read-write');
    caps.push(over.includes('read-write') ? 'read-write' : 'read-only');
  }
  const best = (all: readonly Access[]): Access =>
    all.includes('read-write') && !caps.includes('read-only') ? 'read-write' : 'read-only';

  // What people have answered: yes with an access, never more than the rule gives; no; nothing.
  const answerTo = (rule: RandomRule): Access | 'no' | 'nothing' => {
    const named = (name: string) => world.roots.find((other) => other.name === name)?.real;
    const found = world.answers.find((one) => one.rule === rule.id && named(one.root) === root.real);
    if (root.real === undefined || found === undefined) return 'nothing';
    if (found.given === null) return 'no';
    return found.given === 'read-write' && rule.access === 'read-write' ? 'read-write' : 'read-only';
  };
  const yesOf = (rules: readonly RandomRule[]): Access[] =>
    rules.map(answerTo).filter((answer) => answer !== 'no' && answer !== 'nothing');
  const pending = { effect: 'ask', kind: 'pending', access: null };
  const consent = (access: Access) => ({ effect: 'allow', kind: 'consent', access: best([access]) });

  if (mandatory.length > 0 || (allows.length === 0 && asks.length > 0)) {
    const pool = mandatory.length > 0 ? mandatory : asks;
    const each = asks.filter((rule) => rule.mandatory);
    if (each.some((rule) => answerTo(rule) === 'no')) return deny('refused');
    if (each.some((rule) => answerTo(rule) === 'nothing')) return pending;
    if (each.length > 0) return consent(yesOf(each).includes('read-only') ? 'read-only' : 'read-write');
    if (yesOf(pool).length > 0) return consent(best(yesOf(pool)));
    return pool.every((rule) => answerTo(rule) === 'no') ? deny('refused') : pending;
  }
  if (allows.length === 0) return deny(meant.length > whole.length ? 'nested' : 'implicit');
  const allowed = best(allows.map((rule) => rule.access));
  if (allowed === 'read-only' && best(yesOf(asks)) === 'read-write') return consent('read-write');
  return { effect: 'allow', kind: 'rule', access: allowed };
}
