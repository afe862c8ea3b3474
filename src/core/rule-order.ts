import type { RuleRef } from './decision.ts';
import { LAYERS, type Rule, type Source } from './rule.ts';

/** By layer from the top, then by id: file order never decides, so shuffling files changes nothing. */
export function firstRule(rules: readonly Rule[]): Rule | null {
  const order = (rule: Rule): number => LAYERS.indexOf(rule.source.layer);
  return [...rules].sort((a, b) => order(a) - order(b) || (a.id < b.id ? -1 : 1))[0] ?? null;
}

/** By layer from the top, file, line. */
export function bySource(a: Source, b: Source): number {
  return LAYERS.indexOf(a.layer) - LAYERS.indexOf(b.layer) || (a.file < b.file ? -1 : 1) || a.line - b.line;
}

export function refOf(rule: Rule): RuleRef {
  const { file, line, layer } = rule.source;
  return { id: rule.id, file, line, layer };
}
