// `file:` URIs that somebody gave us, and paths that we make URIs of.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { asRealPath, checkPathText, parseFileUri, toFileUri } from '../../src/core/path.ts';
import { material, type Target } from './target.ts';

const CORPUS = [
  'file:///home/ana/repos/frontend',
  'file://localhost/home/ana',
  'FILE:///srv/a%20b/%C3%A9',
  'file:///a/../b/./c/%2e%2e/d/',
  'file:///C:/Users/ana',
  'file:///C|/x',
  'file:////double//slash',
  'file:///%E2%80%AE%00%2F%5C',
  'file://example.org/share',
  'file:///a?b#c',
  'file:/one/slash',
  'https://example.org/',
  'file:///a b\tc',
  'file:///%ff%fe',
  "file:///!$&'()*+,;=@~-._",
  '/home/ana/[x]/{y}/100%/ü',
  'file:///\u{1f600}/\u0301/\u202e',
];
const WORDS = [
  'file://',
  'localhost',
  '%2e',
  '%2F',
  '%00',
  '%C3%A9',
  '..',
  '/./',
  '//',
  '\\',
  '?',
  '#',
  '%',
  '|',
  ' ',
  '[',
  '@',
];

/** Odd bytes after FF: UTF-16, so that lone surrogates come in. */
function textOf(input: Buffer): string {
  return input[0] === 0xff ? input.toString('utf16le', 1) : input.toString();
}

export const uris: Target = {
  name: 'uris',
  batch: 400,
  ...material(CORPUS, WORDS),

  check(input) {
    const text = textOf(input);
    const parsed = parseFileUri(text);
    if (parsed.ok) {
      assert.equal(checkPathText(parsed.path), null);
      assert.ok(text.startsWith('file://'));
      if (isNormal(parsed.path)) {
        roundTrip(parsed.path);
        assert.equal(fileURLToPath(text), parsed.path);
      }
    } else {
      assert.match(parsed.why, /^[^\n]{4,200}$/);
    }
    const path = `/${text}`;
    if (checkPathText(path) === null && isNormal(path)) roundTrip(path);
  },
};

/** A canonical path has no dot segments. (Node 20 itself leaves those of `file:///a/.b/..` where they are: refused.) */
function isNormal(path: string): boolean {
  return !path.split('/').some((part) => part === '.' || part === '..');
}

/** A path that can be one comes back as it was, out of a URI that no parser reads in two ways. */
function roundTrip(path: string): void {
  const uri = toFileUri(asRealPath(path));
  assert.match(uri, /^file:\/\/\/[A-Za-z0-9._~/%-]*$/);
  assert.deepEqual(parseFileUri(uri), { ok: true, path });
}
