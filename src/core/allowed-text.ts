// What a model is told of a path that it may not use: the path as it came, and what it could use in its place.

import type { Access } from './access.ts';
import { escapeForTerminal } from './display.ts';

const MAX_TEXT = 300;
const MAX_PLACES = 10;

/** What may be used, in one sentence without its stop. */
export function allowedText(allowed: readonly { readonly path: string; readonly access: Access }[]): string {
  if (allowed.length === 0) return 'This server may use no directory now';
  const listed = allowed.slice(0, MAX_PLACES).map(({ path, access }) => `"${shownText(path)}" (${access})`);
  const more = allowed.length > MAX_PLACES ? ` and ${allowed.length - MAX_PLACES} more` : '';
  return `This server may use ${listed.join(', ')}${more}`;
}

/** A text that somebody gave, cut and without what could steer a reader. */
export function shownText(text: string): string {
  const cut = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
  return escapeForTerminal(cut);
}
