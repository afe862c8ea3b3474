import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { namedPaths, type Reading } from '../../../src/run/guard/named-paths.ts';
import { namesPath, namesText } from '../../../src/run/guard/path-names.ts';
import { SchemaPaths } from '../../../src/run/guard/schema-paths.ts';

const READING: Reading = {
  strict: false,
  pathNames: new Set(),
  schema: new SchemaPaths(undefined),
  relativePaths: 'pass',
  cwd: '/w/d',
  homes: ['/home/ana'],
};

const SCHEMA = new SchemaPaths({ properties: { thingId: { format: 'path' }, query: { format: 'path' } } });

/** What arguments name: `property value -> candidates`, `?` where that cannot be told. */
function named(value: unknown, reading: Partial<Reading> = {}): readonly string[] {
  return [...namedPaths(value, { ...READING, ...reading })].map(
    ({ property, candidates }) => `${property}: ${candidates?.join(' ') ?? '?'}`,
  );
}

describe('namesPath() tells by the last word of a name', () => {
  const YES = ['path', 'Path', 'PATH', 'paths', 'file_path', 'filePath', 'repo-path', 'outputDirs', 'directories'];
  const ALSO = [
    '\u017fource',
    'wor\u212adir',
    'repositories',
    'fileURI',
    'fileURIs',
    'uris',
    'path2',
    'paths[]',
    'a.b.target',
    'from',
    'XMLFile',
  ];
  const TWO = ['fileName', 'file_name', 'FILE-NAMES', 'newFileName', 'workDir', 'WORK_SPACE'];
  const NO = [
    '',
    'name',
    'content',
    'pathology',
    'fromage',
    'filepathx',
    'tot',
    'profile',
    'rooted',
    '路径',
    'userName',
  ];
  for (const name of [...YES, ...ALSO, ...TWO]) it(`yes: ${name}`, () => assert.equal(namesPath(name), true));
  for (const name of NO) it(`no: ${name}`, () => assert.equal(namesPath(name), false));
});

describe('namesText() tells by the whole name, however it is spelt', () => {
  for (const name of ['content', 'me\u017f\u017fage', 'oldText', 'old_text', 'NEW-TEXT', 'query']) {
    it(`yes: ${name}`, () => assert.equal(namesText(name), true));
  }
  for (const name of ['file_content_path', 'contentPath', 'textual']) {
    it(`no: ${name}`, () => assert.equal(namesText(name), false));
  }
});

const ALL_UNCLEAR = ['path', 'to', 'dir', 'uri'].map((name) => `${name}: ?`);

describe('namedPaths()', () => {
  const ROWS: readonly (readonly [string, unknown, readonly string[]])[] = [
    ['an absolute path in a property that holds paths', { path: '/a' }, ['path: /a']],
    ['none in another property', { name: '/a', x: '~/b' }, []],
    ['at any depth', { a: [{ b: { files: ['/a', ['/b']] } }] }, ['files: /a', 'files: /b']],
    ['the property of an object counts, not the one around it', { path: { name: '/a' } }, []],
    ['a name that is a path itself', { files: { '/a': 'x' } }, ['files: /a']],
    ['a file URI anywhere', { x: 'file:///a%20b' }, ['x: /a b']],
    ['a file URI in any case', { x: 'FILE:///a' }, ['x: ?']],
    ['a file URI of another host', { x: 'file://h/a' }, ['x: ?']],
    ['no other URI', { uri: 'https://x/y', source: 'memo:a' }, []],
    ['text, whatever it looks like', { content: '/a', old_text: 'file:///a', query: '~/a' }, []],
    [
      'a line break hides no path',
      { path: '/a\n/b', to: 'a/\n/../b', dir: '~\n/x', uri: 'file:///a/\nb' },
      ALL_UNCLEAR,
    ],
    [
      'nor does another control character',
      { path: '/a\u0000b', to: '\u0001a/\u0085/..', dir: '/\tb', uri: 'file\t:/a' },
      ALL_UNCLEAR,
    ],
    ['text of lines is none', { input: 'a\nb/c', x: '/a\n/b', note: 'File: a\nb', path: 'a\tb' }, []],
    [
      'a file URI in pieces, as parsers of URIs put it together',
      { x: 'fi\nl\te:///a/\r\nb', y: 'file\t:///c' },
      ['x: /a/b', 'y: /c'],
    ],
    [
      'control characters around, which servers cut away',
      { x: '\u0001file:///a', y: '\u0000file:///b', path: '\u001c/c', to: '\u0085\u001f/d\u0085' },
      ['x: /a', 'y: /b', 'path: /c', 'to: /d'],
    ],
    ['a name with a control character that is a path itself', { files: { '\u0001/a\n': 'x' } }, ['files: /a']],
    ['blanks and quotes around, which servers cut away', { path: ' "/a"\n', to: '\t/b' }, ['path: /a', 'to: /b']],
    ['with blanks behind as it stands and without', { path: '/a ' }, ['path: /a  /a']],
    ['a home', { path: '~', to: '~/b' }, ['path: /home/ana', 'to: /home/ana/b']],
    ['the home of somebody', { path: '~bob/x' }, ['path: ?']],
    ['a name that only begins with a tilde', { path: '~$x.docx' }, []],
    ['no relative path', { path: 'a/b', to: '..a', from: 'main..dev' }, []],
    ['a relative path that climbs', { path: '../a' }, ['path: /w/d/../a /w/a']],
    ['both ways of reading ".."', { path: '/l/../a' }, ['path: /l/../a /a']],
    ['a scheme does not hide that it climbs', { path: 'x://../../../../a' }, ['path: /a']],
    ['a list in one text', { path: '/a,/b;/c:/d' }, ['path: /a,/b;/c:/d /a /b /c /d']],
    [
      'a list whose first part is relative',
      { path: 'a.txt,/b', to: 'a.txt:/c', dir: 'd,../e' },
      ['path: /b', 'to: /c', 'dir: /w/d/../e /w/e'],
    ],
    ['a list of quoted parts and URIs', { paths: '"a", "/b" ;file:///c%20d:~/e' }, ['paths: /b /c d /home/ana/e']],
    [
      'names with what separates others',
      { path: '/a,b:c', to: 'C:\\a', uri: 'https://x/y,/a', uris: 'memo:/a' },
      ['path: /a,b:c'],
    ],
    ['nothing in numbers, null and booleans', { path: 1, file: null, dir: true }, []],
    ['__proto__', JSON.parse('{"__proto__":{"path":"/a"}}'), ['path: /a']],
  ];
  for (const [what, value, expected] of ROWS) it(what, () => assert.deepEqual(named(value), expected));

  it('takes no longer than a text is long', () => {
    const [blanks, letters, signs] = [' ', 'a', '!'].map((one) => one.repeat(1_000_000));
    const value = { x: `/a${blanks}b`, [`${letters}B`]: '/a', [`${signs}path${signs}`]: '/b', path: ` /c${blanks}` };
    assert.equal(named(value).length, 2);
  });

  it('takes names from the policy before all other rules, and from the schema', () => {
    const value = { query: '/a', thing_id: '/b', other: '/c' };
    assert.deepEqual(named(value, { pathNames: new Set(['query']) }), ['query: /a']);
    assert.deepEqual(named(value, { schema: SCHEMA }), ['thing_id: /b']);
  });

  it('takes no path with a line break where one is said to stand', () => {
    const value = { query: 'a\nb', thing_id: 'a\nb', other: '/c\nd' };
    const reading = { strict: true, pathNames: new Set(['query']), schema: SCHEMA };
    assert.deepEqual(named(value, reading), ['query: ?', 'thing_id: ?']);
  });

  it('resolves relative paths where the server does', () => {
    const value = { path: 'a', dir: '.', to: '~', x: 'b', uri: 'memo:a' };
    const expected = ['path: /w/d/a', 'dir: /w/d/.', 'to: /home/ana /w/d/~'];
    assert.deepEqual(named(value, { relativePaths: 'cwd' }), expected);
  });

  it('takes every value that looks like a path where it is strict', () => {
    const value = { x: '/a', y: './b', z: '../c', home: '~/d', word: 'e/f', text: '/g', list: ['..'] };
    const expected = ['x: /a', 'y: /w/d/./b', 'z: /w/d/../c /w/c', 'home: /home/ana/d', 'list: /w/d/.. /w'];
    assert.deepEqual(named(value, { strict: true }), expected);
  });
});
