// What of the policy's prompts a peer may see.

import { matchPeer } from './match-peer.ts';
import type { Peer } from './peer.ts';
import type { Policy } from './policy.ts';
import type { Audience, Prompt, PromptArgument, PromptValue } from './prompt.ts';

/** Arguments with the values that are resolved. */
export type Chosen = ReadonlyMap<string, string>;

/** The prompts that a peer may see. A fact that is missing shows nothing, as it grants nothing. */
export function visiblePrompts(policy: Policy, peer: Peer): readonly Prompt[] {
  return [...policy.prompts.values()].filter(({ audience }) => isVisible(audience, peer, policy));
}

/**
 * The values of an argument that a peer may choose, given what is chosen already: all of them where the other argument is
 * not. null: any text will do, or the disk says it.
 */
export function offeredValues(
  prompt: Prompt,
  { source }: PromptArgument,
  { policy, peer, chosen }: { readonly policy: Policy; readonly peer: Peer; readonly chosen: Chosen },
): readonly string[] | null {
  const visible = (values: readonly PromptValue[]): readonly string[] =>
    values.filter(({ audience }) => isVisible(audience, peer, policy)).map(({ value }) => value);
  if (source.kind === 'values') return visible(source.values);
  if (source.kind !== 'cases') return null;
  const other = prompt.arguments.find(({ name }) => name === source.dependsOn);
  const offered = other === undefined ? null : offeredValues(prompt, other, { policy, peer, chosen });
  const choice = chosen.get(source.dependsOn);
  // What depends on a value that the peer may not see says that there is such a value.
  const cases = source.cases.filter(({ of }) => (choice ?? of) === of && (offered?.includes(of) ?? true));
  return [...new Set(cases.flatMap(({ values }) => visible(values)))];
}

/** The text of a prompt; an argument that is not given is nothing. */
export function renderPrompt({ template, arguments: declared }: Prompt, chosen: Chosen): string {
  const names = new Set(declared.map(({ name }) => name));
  return template.replaceAll(/\{([^{}\s]+)\}/g, (whole, name: string) =>
    names.has(name) ? (chosen.get(name) ?? '') : whole,
  );
}

function isVisible(audience: Audience, peer: Peer, policy: Policy): boolean {
  return matchPeer(audience, peer, policy).match === 'yes';
}
