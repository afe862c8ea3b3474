import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { checkPathText, parseFileUri, type RealPath, toFileUri } from '../../src/core/path.ts';

/** In these tests any absolute text may stand for a path that the disk has resolved. */
const real = (path: string) => path as RealPath;

/** Any name a file can have that is valid UTF-8. */
const names = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 40 })
  .filter((name) => !/[/\0]|\p{Cs}/u.test(name) && name !== '.' && name !== '..');
const paths = fc.array(names, { maxLength: 6 }).map((parts) => real(`/${parts.join('/')}`));

describe('checkPathText()', () => {
  it('refuses what no kernel should be asked about', () => {
    const rows: readonly (readonly [text: string, why: RegExp])[] = [
      ['', /empty/],
      ['a/b', /relative/],
      ['~/a', /relative/],
      ['file:///a', /relative/],
      [' /a', /relative/],
      ['/a\0b', /NUL/],
      ['/a\ud800', /surrogate/],
      ['/\udc00a', /surrogate/],
      [`/${'a'.repeat(4095)}`, /4095 bytes/],
      [`/${'ä'.repeat(2048)}`, /4095 bytes/],
    ];
    for (const [text, why] of rows) assert.match(checkPathText(text) ?? 'accepted', why, JSON.stringify(text));
  });

  it('takes everything else as it is', () => {
    const texts = ['/', '//', '/a/../b', '/a ', '/a\n', '/%2e', '/😀', `/${'a'.repeat(4094)}`, `/${'ä'.repeat(2047)}`];
    for (const text of texts) assert.equal(checkPathText(text), null, JSON.stringify(text));
  });
});

describe('toFileUri()', () => {
  it('encodes every byte but unreserved ones and slashes', () => {
    const rows: readonly (readonly [path: string, uri: string])[] = [
      ['/', 'file:///'],
      ['/home/ana/a-b_c.d~e', 'file:///home/ana/a-b_c.d~e'],
      ['/a b#c%d?e', 'file:///a%20b%23c%25d%3Fe'],
      ['/ä/日', 'file:///%C3%A4/%E6%97%A5'],
      ['/C:/x|y\\z', 'file:///C%3A/x%7Cy%5Cz'],
      ["/!'()*;@&=+$,[]", 'file:///%21%27%28%29%2A%3B%40%26%3D%2B%24%2C%5B%5D'],
      ['/%2e%2e/x', 'file:///%252e%252e/x'],
      ['/a\nb', 'file:///a%0Ab'],
    ];
    for (const [path, uri] of rows) assert.equal(toFileUri(real(path)), uri);
  });

  it('gives a URI that leads back to exactly the same path, here and in other parsers (B042, B043)', () => {
    fc.assert(
      fc.property(paths, (path) => {
        const uri = toFileUri(path);
        assert.match(uri, /^file:\/\/\/[A-Za-z0-9\-._~%/]*$/);
        assert.deepEqual(parseFileUri(uri), { ok: true, path });
        assert.equal(fileURLToPath(uri), path);
        assert.equal(new URL(uri).href, uri);
      }),
    );
  });
});

describe('parseFileUri()', () => {
  it('decodes once and leaves the rest to the kernel', () => {
    const rows: readonly (readonly [uri: string, path: string])[] = [
      ['file:///', '/'],
      ['file:///a/b', '/a/b'],
      ['file://localhost/a', '/a'],
      ['file://LOCALHOST/a', '/a'],
      ['file:///a/', '/a/'],
      ['file:////a', '//a'],
      ['file:///a%20b c', '/a b c'],
      ['file:///%C3%A4ä', '/ää'],
      ['file:///%2541', '/%41'],
      ['file:///a%0Ab%5Cc%3Fd%23e', '/a\nb\\c?d#e'],
      ['file:///~/a', '/~/a'],
      // A drive letter is a name like any other.
      ['file:///C:/x', '/C:/x'],
      ['file:///C%7C/x', '/C|/x'],
      // Dot segments stay (B087).
      ['file:///a/../b', '/a/../b'],
      ['file:///a/%2e%2e/b', '/a/../b'],
      ['file:///a/.%2E/%2e/b/..', '/a/.././b/..'],
      ['file:///a//../b', '/a//../b'],
      ['file:///..%20/b', '/.. /b'],
    ];
    for (const [uri, path] of rows) assert.deepEqual(parseFileUri(uri), { ok: true, path }, uri);
  });

  it('refuses what it would have to guess', () => {
    const rows: readonly (readonly [uri: string, why: RegExp])[] = [
      ['', /begin/],
      ['/a', /begin/],
      ['file:/a', /begin/],
      ['file:a', /begin/],
      ['FILE:///a', /begin/],
      [' file:///a', /begin/],
      ['https://localhost/a', /begin/],
      ['vscode-remote:///a', /begin/],
      // Another host, or none at all (B088).
      ['file://', /host/],
      ['file://localhost', /host/],
      ['file://server/share', /host/],
      ['file://localhost.evil/a', /host/],
      ['file://localhost:80/a', /host/],
      ['file://ana@localhost/a', /host/],
      ['file://%6cocalhost/a', /host/],
      ['file://./a', /host/],
      ['file://C:/x', /host/],
      // What parsers drop or turn.
      ['file:///a?b', /query/],
      ['file:///a?', /query/],
      ['file:///a#b', /fragment/],
      ['file:///a#', /fragment/],
      ['file:///a ', /blank/],
      ['file:///a\n', /control/],
      ['file:///a\tb', /control/],
      ['file:///a\u0085b', /control/],
      ['file:///a\\b', /backslash/],
      ['file:///a\ud800', /surrogate/],
      ['file:///C|/x', /parsers/],
      ['file:///C:/../x', /parsers/],
      ['file:///./C|/x', /parsers/],
      // Encodings.
      ['file:///a%2Fb', /encoded "\/"/],
      ['file:///a%2fb', /encoded "\/"/],
      ['file:///a%00', /NUL/],
      ['file:///a%', /encodes nothing/],
      ['file:///a%zz', /encodes nothing/],
      ['file:///%ff', /UTF-8/],
      ['file:///%C0%AF', /UTF-8/],
      ['file:///%ED%A0%80', /UTF-8/],
      [`file:///${'a'.repeat(4095)}`, /4095 bytes/],
      [`file:///${'%61'.repeat(5000)}`, /too long/],
    ];
    for (const [uri, why] of rows) {
      const parsed = parseFileUri(uri);
      assert.match(parsed.ok ? `accepted as ${parsed.path}` : parsed.why, why, JSON.stringify(uri.slice(0, 80)));
    }
  });

  it('never reads another path than Node does, but for dot segments', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'/.%2eC|:ab') }), (rest) => {
        const parsed = parseFileUri(`file:///${rest}`);
        if (!parsed.ok || /(^|\/)\.{1,2}(\/|$)/.test(parsed.path)) return;
        assert.equal(parsed.path, fileURLToPath(`file:///${rest}`));
      }),
    );
  });
});
