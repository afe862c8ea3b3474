// Problems and layers in a form that a table row can hold.
import type { Problem } from '../../src/core/errors.ts';
import type { Expansions } from '../../src/core/pattern.ts';
import { builtInLayer } from '../../src/policy/built-in.ts';
import { type CompiledLayer, compileLayer, type LayerInput } from '../../src/policy/compile-layer.ts';

export const ANA: Expansions = { home: '/home/ana', user: 'ana', uid: 1000, hostname: 'box' };

/** `CODE line:column`, warnings with a mark. */
export function shown(problems: readonly Problem[]): string[] {
  return problems.map(
    ({ code, line, column, severity }) => `${severity === 'warning' ? 'warning ' : ''}${code} ${line}:${column}`,
  );
}

/** Compiles texts as the user layer below the built-in one. */
export function compileTexts(texts: Readonly<Record<string, string>>, input: Partial<LayerInput> = {}): CompiledLayer {
  const upper = [builtInLayer({ expansions: ANA, own: [] })];
  const files = Object.entries(texts).map(([path, text]) => ({ path, text }));
  return compileLayer({ layer: 'user', files, expansions: ANA, upper, ...input });
}

/** What is wrong with one policy, which is given without its first line, `version: 1`. */
export function problemsIn(body: string): string[] {
  return shown(compileTexts({ 'a.yaml': `version: 1\n${body}` }).problems);
}
