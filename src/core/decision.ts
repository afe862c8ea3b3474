import type { Access } from './access.ts';
import type { Effect, Layer, Rule } from './rule.ts';

export const KINDS = [
  'rule',
  'consent',
  'pending',
  'refused',
  'unattested',
  'explicit',
  'ceiling',
  'nested',
  'project',
  'implicit',
] as const;
export type Kind = (typeof KINDS)[number];

export interface RuleRef {
  readonly id: string;
  readonly file: string;
  readonly line: number;
  readonly layer: Layer;
}

/** What a person could still grant, under which rule, and for how long. */
export interface Offer {
  readonly rule: Rule;
  readonly access: Access;
  readonly scopes: readonly string[];
}

/** The answer for one peer and one root or path, with its reason. */
export interface Decision {
  readonly effect: Effect;
  readonly kind: Kind;
  /** What holds now; null unless allowed. */
  readonly access: Access | null;
  /** What a person could still grant, more than `access`; null if nothing. */
  readonly askable: Access | null;
  /** By which rule, where something is askable. */
  readonly offer?: Offer;
  readonly rule: RuleRef | null;
  readonly why: string;
  /** Facts the decision used and those it lacked, for a person: `server=git (claimed)`. */
  readonly facts: readonly string[];
  readonly missing: readonly string[];
}
