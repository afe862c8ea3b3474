// What a model can ask about its roots. A "no" is an answer, not an error.

import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Access } from '../core/access.ts';
import { decidePath } from '../core/decide-path.ts';
import type { Decision } from '../core/decision.ts';
import { checkPathText, parseFileUri } from '../core/path.ts';
import { literalPattern } from '../core/pattern.ts';
import type { EndpointSession } from './endpoint-session.ts';
import { isInside } from './places.ts';
import type { CallParams, Params } from './read-params.ts';
import { invalidParams } from './request-refused.ts';
import { CHECK_PATH, LIST_ROOTS, REQUEST_ACCESS } from './tool-descriptions.ts';

/** Calls one of the tools, until the client cancels. Throws RequestRefused for a name that is none of them. */
export async function callTool(
  session: EndpointSession,
  { name, given }: CallParams,
  cancelled: AbortSignal,
): Promise<CallToolResult> {
  switch (name) {
    case LIST_ROOTS.name:
      return answer({ roots: listRoots(session) });
    case CHECK_PATH.name:
      return withPath(['path'], given, async (path) => {
        const { askable, ...checked } = await checkPath(session, path);
        return answer(checked);
      });
    case REQUEST_ACCESS.name:
      return withPath(['path', 'access'], given, async (path, access) =>
        answer({ ...(await requestAccess(session, { path, access, cancelled })) }),
      );
    default:
      throw invalidParams(`there is no tool "${name}"`);
  }
}

/** Wrong arguments are told as a result, so that a model can put them right. */
async function withPath(
  known: readonly string[],
  given: Params,
  act: (path: string, access: Access) => Promise<CallToolResult>,
): Promise<CallToolResult> {
  const unknown = Object.keys(given).find((key) => !known.includes(key));
  if (unknown !== undefined) return wrong(`There is no argument "${unknown}"`);
  const { path, access = 'read-only' } = given;
  if (typeof path !== 'string') return wrong('"path" must be an absolute path or a file: URI');
  if (access !== 'read-only' && access !== 'read-write') return wrong('"access" must be "read-only" or "read-write"');
  return act(path, access);
}

function wrong(text: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text }] };
}

function answer(structuredContent: Record<string, unknown>): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
}

function listRoots(session: EndpointSession) {
  const { told } = session.sight().view;
  return told.map(({ root, title, uri, path, access }) => ({ name: root, title, uri, path, access }));
}

interface CheckedPath {
  readonly verdict: 'inside' | 'outside' | 'invalid';
  readonly effect: Decision['effect'];
  readonly access: Access | null;
  readonly askable: Access | null;
  readonly root: string | null;
  readonly why: string;
}

const DENIED = { effect: 'deny', access: null, askable: null, root: null } as const;
const DOT_DOT = 'the path has a "..": only the disk knows where that leads, and is not asked';
const LEADS_OUT = 'it leads out of the roots of this session, or cannot be followed';

/**
 * Of what lies outside the roots only the policy speaks, never the disk: the answer is the same whether something is there
 * or not, and wherever a link leads.
 */
async function checkPath(session: EndpointSession, given: string): Promise<CheckedPath> {
  const parsed = given.startsWith('file:') ? parseFileUri(given) : { ok: true as const, path: given };
  const fault = parsed.ok ? checkPathText(parsed.path) : parsed.why;
  if (!parsed.ok || fault !== null) return { verdict: 'invalid', ...DENIED, why: `the path ${fault}` };
  const { path } = parsed;
  if (path.split('/').includes('..')) return { verdict: 'invalid', ...DENIED, why: DOT_DOT };
  if (!isInside(session.sight().view.told, path)) return outside(session, path);
  const leads = await session.resolve(path);
  if (!leads.ok || !isInside(session.sight().view.told, leads.path)) {
    return { verdict: 'outside', ...DENIED, why: LEADS_OUT };
  }
  const decision = decided(session, path, leads.path);
  return { verdict: decision.effect === 'allow' ? 'inside' : 'outside', ...decision };
}

function outside(session: EndpointSession, path: string): CheckedPath {
  const decision = decided(session, path);
  if (decision.effect !== 'allow') return { verdict: 'outside', ...decision };
  return { verdict: 'outside', ...decision, why: `${decision.why}, but the root is not available now` };
}

function decided(session: EndpointSession, ...spellings: readonly string[]): Omit<CheckedPath, 'verdict'> {
  const { evidence, peer, circumstances } = session.sight();
  const forms = spellings.map((path) => literalPattern(path));
  const { decision, root } = decidePath(evidence, peer, forms, circumstances);
  const { effect, access, askable, why } = decision;
  return { effect, access, askable, root: effect === 'deny' ? null : (root?.name ?? null), why };
}

interface RequestedAccess {
  readonly state: 'granted' | 'denied' | 'undecided';
  readonly access: Access | null;
  readonly why: string;
}

async function requestAccess(
  session: EndpointSession,
  {
    path,
    access: wanted,
    cancelled,
  }: { readonly path: string; readonly access: Access; readonly cancelled: AbortSignal },
): Promise<RequestedAccess> {
  const before = await checkPath(session, path);
  if (isEnough(before.askable, wanted) && before.root !== null) await session.request(before.root, cancelled);
  const { verdict, access, askable, why } = await checkPath(session, path);
  const held = verdict === 'inside' ? access : null;
  if (isEnough(held, wanted)) return { state: 'granted', access: held, why };
  return { state: isEnough(askable, wanted) ? 'undecided' : 'denied', access: held, why };
}

function isEnough(held: Access | null, wanted: Access): boolean {
  return held === 'read-write' || held === wanted;
}
