// The roots of a session as resources, and by one template what lies in them.

import { isUtf8 } from 'node:buffer';
import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
} from '@modelcontextprotocol/server';
import { ACCESS_META } from '../core/access.ts';
import type { EntryKind, ListedEntry } from '../core/listing.ts';
import { parseFileUri, type RealPath, toFileUri } from '../core/path.ts';
import type { ToldRoot } from '../core/view.ts';
import type { FetchedPlace } from '../disk/fetch-place.ts';
import type { EndpointSession, Sight } from './endpoint-session.ts';
import { fetchVisible, kindOfRoot, MAX_FILE_BYTES } from './places.ts';
import { invalidParams } from './request-refused.ts';

/** The template, and how clients also write it. */
export const TEMPLATE = 'file:///{+path}';
export const TEMPLATE_SPELLINGS: readonly string[] = [TEMPLATE, 'file:///{path}'];
/** The variable of the template. */
export const PATH_VARIABLE = 'path';

const DIRECTORY_TYPE = 'inode/directory';
const LISTING_TYPE = 'application/json';
/** Of a list, as JSON, in characters: as of a file. */
const MAX_LIST_LENGTH = MAX_FILE_BYTES;

type ResourceEntry = ListResourcesResult['resources'][number];

export function listResources(sight: Sight): ListResourcesResult {
  return { resources: sight.view.told.map((root) => rootResource(root, kindOfRoot(sight, root))) };
}

export function listTemplates(): ListResourceTemplatesResult {
  return {
    resourceTemplates: [
      {
        uriTemplate: TEMPLATE,
        name: 'path',
        title: 'Files and directories',
        description: 'A file, or the list of a directory, inside the roots; the path is percent-encoded',
      },
    ],
  };
}

/** A file as text or blob, a directory as the list of what is in it. Throws RequestRefused for all else. */
export async function readResource(session: EndpointSession, uri: string): Promise<ReadResourceResult> {
  const path = pathOfUri(uri);
  const place = path === null ? null : await fetchVisible(session, path, { want: 'all' });
  if (place === null) throw noSuchResource(uri);
  if (place.entries !== null) return { contents: [directoryContents(uri, place, place.entries)] };
  if (place.base64 === null) throw tooLarge(uri, place.size);
  return { contents: [fileContents(uri, Buffer.from(place.base64, 'base64'))] };
}

/** Says the same of what lies outside, of what is denied and of what is not there. */
export function noSuchResource(uri: string): Error {
  return invalidParams('no resource that this session may see has this URI', { uri });
}

/** The path that a URI names; null where it names none. */
export function pathOfUri(uri: string): string | null {
  const parsed = parseFileUri(uri);
  return parsed.ok ? parsed.path : null;
}

function tooLarge(uri: string, size: number): Error {
  return invalidParams(`the file has ${size} bytes, at most ${MAX_FILE_BYTES} are sent`, { uri, size });
}

function rootResource({ uri, root, title, access, carved }: ToldRoot, kind: EntryKind): ResourceEntry {
  const without = carved.length === 0 ? '' : `, without ${carved.map((path) => `"${path}"`).join(' and ')}`;
  return {
    uri,
    name: root,
    title,
    description: `${access}${without}`,
    ...(kind === 'directory' ? { mimeType: DIRECTORY_TYPE } : {}),
    _meta: { [ACCESS_META]: access },
  };
}

/** The list says how many there are, also where not all are in it. */
function directoryContents(uri: string, { path, total }: FetchedPlace, entries: readonly ListedEntry[]) {
  const base = path === '/' ? '' : path;
  const listed: string[] = [];
  let length = 0;
  for (const { name, kind } of entries) {
    const entry = JSON.stringify({ name, kind, uri: toFileUri(`${base}/${name}` as RealPath) });
    length += entry.length + 1;
    if (length > MAX_LIST_LENGTH) break;
    listed.push(entry);
  }
  return { uri, mimeType: LISTING_TYPE, text: `{"entries":[${listed.join(',')}],"total":${total}}` };
}

/** What is valid UTF-8 without NUL is text. */
function fileContents(uri: string, bytes: Buffer) {
  if (isUtf8(bytes) && !bytes.includes(0)) return { uri, mimeType: 'text/plain', text: bytes.toString('utf8') };
  return { uri, mimeType: 'application/octet-stream', blob: bytes.toString('base64') };
}
