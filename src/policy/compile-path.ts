import { componentsOf, type Expansions, type PathPattern, parsePolicyPath } from '../core/pattern.ts';
import type { PolicySource } from './policy-source.ts';
import { clip } from './source-text.ts';
import type { Pointer } from './yaml-file.ts';

interface PathOptions {
  readonly expansions: Expansions;
  readonly stars: boolean;
}

/** The path that stands at `pointer`, or null where it cannot be used, which is reported. */
export function compilePath(
  source: PolicySource,
  pointer: Pointer,
  text: string,
  options: PathOptions,
): PathPattern | null {
  const parsed = parsePolicyPath(text, options.expansions, { stars: options.stars });
  if (parsed.ok) {
    warnOfLiteralStars(source, pointer, text);
    return parsed.pattern;
  }
  source.refuse('POLICY_PATH', pointer, { path: clip(text), why: parsed.why });
  return null;
}

/** `*.pem` is a name like any other here; who writes it expects more, and a deny that denies nothing goes unseen. */
function warnOfLiteralStars(source: PolicySource, pointer: Pointer, text: string): void {
  const part = componentsOf(text).find((one) => one.includes('*') && one !== '*' && one !== '**');
  if (part !== undefined) source.warn('POLICY_LITERAL_STAR', pointer, { part });
}

/** Is this item of a rule a path? Anything else is the name of a root. */
export function isPathItem(text: string): boolean {
  return /^(?:\/|~|\$\{)/.test(text);
}
