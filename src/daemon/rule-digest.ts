import { createHash } from 'node:crypto';
import { ruleText } from '../core/consent.ts';
import type { Policy } from '../core/policy.ts';
import type { Rule } from '../core/rule.ts';

/** SHA-256 of all that a rule means under a policy; made once for each rule of a policy. */
export class RuleDigests {
  readonly #known = new WeakMap<Policy, WeakMap<Rule, string>>();

  of(rule: Rule, policy: Policy): string {
    const ofPolicy = this.#known.get(policy) ?? new WeakMap<Rule, string>();
    this.#known.set(policy, ofPolicy);
    const digest = ofPolicy.get(rule) ?? createHash('sha256').update(ruleText(rule, policy)).digest('hex');
    ofPolicy.set(rule, digest);
    return digest;
  }
}
