import type { Access } from './access.ts';
import type { Effect, Layer } from './rule.ts';

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

/** The answer for one peer and one root or path, with its reason. */
export interface Decision {
  readonly effect: Effect;
  readonly kind: Kind;
  /** What holds now; null unless allowed. */
  readonly access: Access | null;
  /** What a person could still grant, more than `access`; null if nothing. */
  readonly askable: Access | null;
  readonly rule: RuleRef | null;
  readonly why: string;
  /** Facts the decision used and those it lacked, for a person: `server=git (claimed)`. */
  readonly facts: readonly string[];
  readonly missing: readonly string[];
}
