// What `rootsd run` says of its session, checked: it ends up in the log and on the terminals of people.

import { escapeForTerminal } from '../core/display.ts';
import type { HostAnswer, RefusedCall, SessionReport } from '../core/protocol.ts';
import { CHANNEL_KINDS, type ChannelKind } from '../core/server-traits.ts';
import { invalidParams, type Params } from './message.ts';

/** `rootsd run` cuts a text to 300 characters and escapes what is hidden in it. */
const MAX_TEXT_CHARACTERS = 4_096;

/** The parameters of `rootsd/report`. Who says nothing of a person has none. */
export function readSessionReport({ era, channels, askedForRoots, elicits = false }: Params): SessionReport {
  if (era !== null && era !== 'legacy' && era !== 'modern') {
    throw invalidParams('"era" must be "legacy", "modern" or null');
  }
  if (askedForRoots !== null && typeof askedForRoots !== 'boolean') {
    throw invalidParams('"askedForRoots" must be true, false or null');
  }
  if (typeof elicits !== 'boolean') throw invalidParams('"elicits" must be true or false');
  if (Array.isArray(channels) && channels.length <= CHANNEL_KINDS.length && channels.every(isChannelKind)) {
    return { era, channels, askedForRoots, elicits };
  }
  throw invalidParams(`"channels" must be a list of ${CHANNEL_KINDS.join(', ')}`);
}

/** The parameters of `rootsd/answer`. Whether it may be said is not looked at here. */
export function readHostAnswer({ id, says, scope }: Params): HostAnswer {
  if (typeof id !== 'string') throw invalidParams('"id" must be what "rootsd/questions" said');
  if (says !== 'yes' && says !== 'no' && says !== 'pass') {
    throw invalidParams('"says" must be "yes", "no" or "pass"');
  }
  if (scope === undefined) return { id, says };
  if (typeof scope !== 'string' || says !== 'yes') throw invalidParams('"scope" must be a text, and of a yes');
  return { id, says, scope };
}

/** The parameters of `rootsd/refused`; what the texts hide is escaped. */
export function readRefusedCall({ method, tool, path, access, reason, left }: Params): RefusedCall {
  if (access !== 'read-only' && access !== 'read-write') {
    throw invalidParams('"access" must be "read-only" or "read-write"');
  }
  if (typeof left !== 'number' || !Number.isSafeInteger(left) || left < 0) {
    throw invalidParams('"left" must be a count');
  }
  if (typeof reason !== 'string' || !/^[a-z-]{1,40}$/.test(reason)) {
    throw invalidParams('"reason" must be a word or two with hyphens');
  }
  return {
    method: readText('method', method),
    tool: tool === null ? null : readText('tool', tool),
    path: path === null ? null : readText('path', path),
    access,
    reason,
    left,
  };
}

function isChannelKind(value: unknown): value is ChannelKind {
  return (CHANNEL_KINDS as readonly unknown[]).includes(value);
}

function readText(key: string, value: unknown): string {
  const text = typeof value === 'string' ? escapeForTerminal(value) : null;
  if (text !== null && text.length <= MAX_TEXT_CHARACTERS) return text;
  throw invalidParams(`"${key}" must be a text of at most ${MAX_TEXT_CHARACTERS} characters`);
}
