import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { editValue, readValue, type ValuePlace } from '../../src/run/edit-list.ts';

const json: ValuePlace = { format: 'json', key: ['files', 'allowed'] };
const yaml: ValuePlace = { format: 'yaml', key: ['files', 'allowed'] };
const toml: ValuePlace = { format: 'toml', key: ['files', 'allowed'] };

describe('editValue()', () => {
  const rows: [what: string, place: ValuePlace, before: string, after: string][] = [
    [
      'keeps comments, order and other keys in JSON',
      json,
      '{\n  // mine\n  "a": 1,\n  "files": { "allowed": ["/x"], "b": 2, },\n}\n',
      '{\n  // mine\n  "a": 1,\n  "files": { "allowed": [\n      "/new"\n    ], "b": 2, },\n}\n',
    ],
    ['makes what is missing in JSON', json, '{}\n', '{\n  "files": {\n    "allowed": [\n      "/new"\n    ]\n  }\n}\n'],
    ['makes JSON of nothing', json, '', '{\n  "files": {\n    "allowed": [\n      "/new"\n    ]\n  }\n}\n'],
    [
      'keeps comments, order and other keys in YAML',
      yaml,
      '# mine\na: 1\nfiles:\n  allowed: [/x] # here\n  b: 2\n',
      '# mine\na: 1\nfiles:\n  allowed:\n    - /new\n  b: 2\n',
    ],
    ['makes what is missing in YAML', yaml, 'a: 1\n', 'a: 1\nfiles:\n  allowed:\n    - /new\n'],
    [
      'keeps other keys in TOML',
      toml,
      'a = 1\n[files]\nallowed = ["/x"]\nb = 2\n',
      'a = 1\n\n[files]\nallowed = [ "/new" ]\nb = 2\n',
    ],
  ];
  for (const [what, place, before, after] of rows) {
    it(what, () => {
      assert.equal(editValue(before, place, ['/new']), after);
      assert.deepEqual(readValue(after, place), ['/new']);
    });
  }

  for (const [place, text] of [
    [json, '{"files":{"allowed":["/x"],"b":2}}'],
    [yaml, 'files:\n  allowed: [/x]\n  b: 2\n'],
    [toml, '[files]\nallowed = ["/x"]\nb = 2\n'],
  ] as const) {
    it(`takes a value away from ${place.format}`, () => {
      const without = editValue(text, place, undefined);
      assert.equal(readValue(without, place), undefined);
      assert.equal(readValue(without, { ...place, key: ['files', 'b'] }), 2);
    });
  }

  it('refuses a text of another format: it would be lost', () => {
    for (const [place, text] of [
      [json, '{"a": '],
      [json, 'a: 1'],
      [yaml, 'a: [1'],
      [toml, 'a: 1'],
    ] as const) {
      assert.throws(() => editValue(text, place, []), /it is not (?:JSON|YAML|TOML)/);
    }
  });
});
