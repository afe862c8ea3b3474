// The prompts of the policy, as a session may see them.

import type { GetPromptResult, ListPromptsResult } from '@modelcontextprotocol/server';
import { type Chosen, offeredValues, renderPrompt, visiblePrompts } from '../core/offered-prompts.ts';
import { checkPathText } from '../core/path.ts';
import type { Prompt, PromptArgument } from '../core/prompt.ts';
import type { EndpointSession } from './endpoint-session.ts';
import { isWanted } from './path-candidates.ts';
import { fetchVisible } from './places.ts';
import type { GetPromptParams } from './read-params.ts';
import { invalidParams } from './request-refused.ts';

export function listPrompts(session: EndpointSession): ListPromptsResult {
  const { evidence, peer } = session.sight();
  return { prompts: visiblePrompts(evidence.policy, peer).map(described) };
}

/** Throws RequestRefused for a prompt that the session may not see, and for arguments that it does not offer. */
export async function getPrompt(session: EndpointSession, { name, chosen }: GetPromptParams): Promise<GetPromptResult> {
  const { evidence, peer } = session.sight();
  const prompt = visiblePrompts(evidence.policy, peer).find((one) => one.name === name);
  if (prompt === undefined) throw invalidParams(`there is no prompt "${name}"`);
  for (const given of chosen.keys()) {
    if (!prompt.arguments.some((declared) => declared.name === given)) {
      throw invalidParams(`prompt "${name}" has no argument "${given}"`);
    }
  }
  for (const declared of prompt.arguments) await checkArgument(session, prompt, { declared, chosen });
  const text = renderPrompt(prompt, chosen);
  return {
    ...(prompt.description === undefined ? {} : { description: prompt.description }),
    messages: [{ role: 'user', content: { type: 'text', text } }],
  };
}

function described({ name, description, arguments: declared }: Prompt): ListPromptsResult['prompts'][number] {
  return {
    name,
    ...(description === undefined ? {} : { description }),
    arguments: declared.map((argument) => ({
      name: argument.name,
      ...(argument.description === undefined ? {} : { description: argument.description }),
      required: argument.required,
    })),
  };
}

async function checkArgument(
  session: EndpointSession,
  prompt: Prompt,
  { declared, chosen }: { readonly declared: PromptArgument; readonly chosen: Chosen },
): Promise<void> {
  const value = chosen.get(declared.name);
  if (value === undefined) {
    if (declared.required) throw invalidParams(`prompt "${prompt.name}" needs the argument "${declared.name}"`);
    return;
  }
  if (!(await isOffered(session, prompt, { declared, chosen, value }))) {
    throw invalidParams(`"${value}" is no value of the argument "${declared.name}"`);
  }
}

/** Is it what completion would offer? */
async function isOffered(
  session: EndpointSession,
  prompt: Prompt,
  { declared, chosen, value }: { readonly declared: PromptArgument; readonly chosen: Chosen; readonly value: string },
): Promise<boolean> {
  const { evidence, peer, view } = session.sight();
  const { source } = declared;
  if (source.kind === 'roots') return view.told.some(({ root }) => root === value);
  if (source.kind !== 'paths') {
    return offeredValues(prompt, declared, { policy: evidence.policy, peer, chosen })?.includes(value) ?? true;
  }
  const name = source.within === undefined ? undefined : chosen.get(source.within);
  const roots = name === undefined ? view.told : view.told.filter(({ root }) => root === name);
  if (checkPathText(value) !== null) return false;
  const place = await fetchVisible(session, value, { want: 'look', roots });
  if (place === null || (source.what === 'files' && place.kind === 'directory')) return false;
  return isWanted({ name: value.slice(value.lastIndexOf('/') + 1), kind: place.kind }, source);
}
