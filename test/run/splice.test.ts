import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  applyEdits,
  elementsOf,
  isOneObject,
  memberOf,
  objectAt,
  objectOf,
  removeMembers,
  setMember,
} from '../../src/run/splice.ts';

const KEYS = ['a', 'roots', 'é"\\', ''] as const;
const key = fc.constantFrom(...KEYS);
const spelling = fc.constantFrom(
  (value: unknown) => JSON.stringify(value),
  (value: unknown) => JSON.stringify(value, null, ' \t'),
  (value: unknown) => JSON.stringify(value).replaceAll('a', '\\u0061').replaceAll('/', '\\/'),
);
const object = fc.dictionary(
  key,
  fc.anything({ values: [fc.string({ unit: 'binary' }), fc.integer(), fc.constant(null)] }),
);
/** A JSON text of an object, as bytes. */
const text = fc.tuple(object, spelling).map(([value, spell]) => Buffer.from(` ${spell(value)} \n`));

const edited = (line: Buffer, edits: Parameters<typeof applyEdits>[1]): string =>
  Buffer.concat(applyEdits(line, edits)).toString();

describe('a member of a JSON text', () => {
  it('is found where JSON.parse() finds it', () => {
    fc.assert(
      fc.property(text, key, (line, name) => {
        const value = JSON.parse(line.toString()) as Record<string, unknown>;
        const member = memberOf(line, objectAt(line), name);
        assert.equal(member !== undefined, Object.hasOwn(value, name));
        if (member !== undefined)
          assert.deepEqual(JSON.parse(line.toString('utf8', member.start, member.end)), value[name]);
      }),
    );
  });

  it('is set, and all else is as it was', () => {
    fc.assert(
      fc.property(text, key, fc.json(), (line, name, json) => {
        const value = JSON.parse(line.toString()) as Record<string, unknown>;
        const after = edited(line, [setMember(line, objectAt(line), { key: name, json })]);
        assert.deepEqual(JSON.parse(after), { ...value, [name]: JSON.parse(json) });
      }),
    );
  });

  it('is removed, and all else is as it was', () => {
    fc.assert(
      fc.property(text, fc.subarray([...KEYS]), (line, names) => {
        const value = JSON.parse(line.toString()) as Record<string, unknown>;
        const after = edited(
          line,
          removeMembers(line, objectAt(line), (name) => names.includes(name as 'a')),
        );
        const kept = Object.entries(value).filter(([name]) => !names.includes(name as 'a'));
        assert.deepEqual(JSON.parse(after), Object.fromEntries(kept));
      }),
    );
  });

  it('is the last of its name, and goes with all of its name', () => {
    const line = Buffer.from('{"a":1,"b":2,"\\u0061":{"c":3}}');
    const a = memberOf(line, 0, 'a');
    assert.equal(line.toString('utf8', a?.start, a?.end), '{"c":3}');
    assert.equal(objectOf(line, a), 22);
    assert.equal(
      edited(
        line,
        removeMembers(line, 0, (name) => name === 'a'),
      ),
      '{"b":2}',
    );
  });
});

describe('elementsOf()', () => {
  it('gives the elements of an array as they stand there', () => {
    fc.assert(
      fc.property(fc.array(fc.json()), (elements) => {
        const line = Buffer.from(`[${elements.join(' , ')}]`);
        assert.deepEqual(
          elementsOf(line, 0).map(String),
          elements.map((element) => element.trim()),
        );
      }),
    );
  });
});

describe('applyEdits()', () => {
  it('gives a long text in pieces, none of them a copy', () => {
    const line = Buffer.from(`{"a":"${'x'.repeat(100_000)}","id":1}`);
    const edit = setMember(line, 0, { key: 'id', json: '"new"' });
    const pieces = applyEdits(line, [edit]);
    assert.equal(Buffer.concat(pieces).toString(), line.toString().replace('"id":1', '"id":"new"'));
    for (const piece of pieces) assert.ok(piece.buffer === line.buffer || piece === edit.bytes);
  });
});

describe('what is no JSON', () => {
  it('is read to some end', () => {
    fc.assert(
      fc.property(text, fc.nat(), fc.string({ unit: 'binary' }), (line, cut, more) => {
        const broken = Buffer.concat([line.subarray(0, cut % line.length), Buffer.from(more)]);
        const open = broken.indexOf('{');
        memberOf(broken, open, 'a');
        elementsOf(broken, open);
        edited(
          broken,
          removeMembers(broken, open, (name) => name === 'a'),
        );
        if (!isParsed(broken)) return;
        assert.equal(isOneObject(broken), true);
      }),
    );
  });

  for (const broken of ['', '[]', '{', '{"a', '{"a":"}', '{"a":[}', '{} x', '{}{}', '"{}"']) {
    it(`such as ${broken || 'nothing'} is not one object`, () => assert.equal(isOneObject(Buffer.from(broken)), false));
  }
});

function isParsed(text: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(text.toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
