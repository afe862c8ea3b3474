import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { namedPaths } from '../../../src/run/guard/named-paths.ts';
import { SchemaPaths } from '../../../src/run/guard/schema-paths.ts';

const PATH = { type: 'string', format: 'path' };
const TEXT = { type: 'string' };

/** The values of arguments that are taken for paths because of a schema. */
function pathsIn(value: unknown, schema: unknown): readonly string[] {
  const reading = {
    strict: false,
    pathNames: new Set<string>(),
    schema: new SchemaPaths(schema),
    relativePaths: 'pass',
    cwd: '/w',
    homes: [],
  } as const;
  return [...namedPaths(value, reading, 'arguments')].map((named) => named.value);
}

describe('SchemaPaths', () => {
  const VALUE = { a: '/a', b: { c: '/c', d: ['/d0', '/d1'] }, e: [{ f: '/f' }] };
  const ROWS: readonly (readonly [what: string, schema: unknown, paths: readonly string[]])[] = [
    ['nothing', undefined, []],
    ['a property', { properties: { a: PATH } }, ['/a']],
    ['a property within one', { properties: { b: { properties: { c: PATH } } } }, ['/c']],
    ['elements of an array', { properties: { b: { properties: { d: { items: PATH } } } } }, ['/d0', '/d1']],
    ['objects in an array', { properties: { e: { items: { properties: { f: PATH } } } } }, ['/f']],
    ['a tuple', { properties: { b: { properties: { d: { items: [TEXT, PATH] } } } } }, ['/d0', '/d1']],
    ['a tuple of 2020-12', { properties: { b: { properties: { d: { prefixItems: [PATH] } } } } }, ['/d0', '/d1']],
    ...['anyOf', 'oneOf', 'allOf'].map((key): readonly [string, unknown, readonly string[]] => [
      key,
      { [key]: [TEXT, { properties: { a: { [key]: [{ type: 'null' }, PATH] } } }] },
      ['/a'],
    ]),
    [
      'if, then and else',
      JSON.parse('{"if":{},"else":{"properties":{"a":{"if":{},"then":{"format":"path"}}}}}'),
      ['/a'],
    ],
    ['a reference', { properties: { a: { $ref: '#/$defs/P' } }, $defs: { P: PATH } }, ['/a']],
    [
      'references through references',
      {
        $ref: '#/definitions/All',
        definitions: {
          All: { properties: { b: { $ref: '#/definitions/B' } } },
          B: { properties: { d: { items: { $ref: '#/definitions/a~1b%20c' } } } },
          'a/b c': PATH,
        },
      },
      ['/d0', '/d1'],
    ],
    [
      'a schema that is its own member',
      { properties: { a: PATH, b: { $ref: '#' }, e: { items: { $ref: '#' } } } },
      ['/a'],
    ],
    ['references in a ring', { properties: { a: { $ref: '#/$defs/A' } }, $defs: { A: { $ref: '#/$defs/A' } } }, []],
    ['references elsewhere', { properties: { a: { $ref: 'https://x/#/y' }, b: { $ref: '#/nothing' } } }, []],
    ['any name', { additionalProperties: PATH }, ['/a']],
    ['any name but those that are known', { properties: { a: TEXT }, additionalProperties: PATH }, []],
    ['any name within a property', { properties: { b: { additionalProperties: PATH } } }, ['/c']],
    [
      'any name, any number of times',
      {
        additionalProperties: { anyOf: [PATH, { additionalProperties: { $ref: '#/$defs/L' } }] },
        $defs: { L: { items: PATH } },
      },
      ['/a', '/d0', '/d1'],
    ],
    ['names by a pattern', { patternProperties: { '^[ab]$': PATH } }, ['/a']],
    [
      'what nothing else holds for',
      { unevaluatedProperties: PATH, properties: { b: { unevaluatedProperties: PATH } } },
      ['/a', '/c'],
    ],
    ['any name in any element', { properties: { e: { items: { additionalProperties: PATH } } } }, ['/f']],
    ['no example', { properties: { a: { examples: [PATH], default: PATH, enum: [PATH], const: PATH } } }, []],
    ['no other format', { properties: { a: { format: 'date' } }, additionalProperties: { format: 7 } }, []],
    ['what is no schema', { properties: [PATH], additionalProperties: true, anyOf: 'x', items: null, $ref: 7 }, []],
  ];
  for (const [what, schema, paths] of ROWS) it(`finds ${what}`, () => assert.deepEqual(pathsIn(VALUE, schema), paths));

  it('takes the names of members for paths where the schema says so', () => {
    const schema = { properties: { x: { propertyNames: PATH } } };
    assert.deepEqual(pathsIn({ x: { '../y': 1, z: 2 } }, schema), ['../y']);
    assert.deepEqual(pathsIn({ x: { '../y': 1 } }, {}), []);
  });

  it('keeps text what stands in a property of text, of whatever name that is', () => {
    assert.deepEqual(pathsIn({ content: '/a', X: '/b' }, { additionalProperties: PATH }), ['/b']);
  });

  it('reads a schema that is large, or grows without end, in no more steps than there are', () => {
    const wide = {
      properties: Object.fromEntries(Array.from({ length: 300_000 }, (_, i) => [`p${i}`, { format: 'x' }])),
    };
    assert.deepEqual(pathsIn({ a: '/a' }, wide), []);
    const names = Array.from({ length: 2_000 }, (_, i) => [`p${i}`, { $ref: '#' }] as const);
    const round = { properties: Object.fromEntries([...names, ['a', PATH]]), additionalProperties: PATH };
    const deep = { a: '/a', p1: { p2: { p3: { a: '/b', other: '/c' } } } };
    assert.deepEqual(pathsIn(deep, round), ['/a', '/b', '/c']);
  });
});
