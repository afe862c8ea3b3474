import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { SCHEMAS, type SchemaName } from '../../src/policy/schema.ts';

interface Node {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly definitions?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: boolean | Node;
  readonly items?: Node;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
  readonly $ref?: string;
}

/** Every schema of a value inside a schema, with the path to it. */
function* nodesOf(node: Node, path: string): Generator<readonly [string, Node]> {
  yield [path, node];
  for (const [name, child] of Object.entries(node.properties ?? {})) yield* nodesOf(child, `${path}.${name}`);
  for (const [name, child] of Object.entries(node.definitions ?? {})) yield* nodesOf(child, `${path}#${name}`);
  if (typeof node.additionalProperties === 'object') yield* nodesOf(node.additionalProperties, `${path}.*`);
  if (node.items !== undefined) yield* nodesOf(node.items, `${path}[]`);
}

function allNodes(): (readonly [string, Node])[] {
  return Object.entries(SCHEMAS).flatMap(([name, schema]) => [...nodesOf(schema as Node, name)]);
}

test('SCHEMAS are draft-07 schemas with our two terms', () => {
  const ajv = new Ajv({ strictTypes: false, formats: { 'plain-text': true } });
  ajv.addVocabulary(['patternErrorMessage']);
  for (const name of Object.keys(SCHEMAS) as SchemaName[]) {
    assert.equal(ajv.validateSchema(SCHEMAS[name]), true, name);
    assert.equal(typeof ajv.compile(SCHEMAS[name]), 'function', name);
  }
});

test('SCHEMAS describe everything', () => {
  for (const [path, node] of allNodes()) {
    if (node.$ref === undefined) assert.ok((node.description ?? '').length > 3, `${path} has no description`);
  }
});

test('SCHEMAS let no map take unknown keys', () => {
  for (const [path, node] of allNodes()) {
    const isMap = [node.type].flat().includes('object');
    if (isMap) assert.notEqual(node.additionalProperties, undefined, `${path} takes unknown keys`);
    assert.notEqual(node.additionalProperties, true, `${path} takes unknown keys`);
  }
});

test('SCHEMAS give examples and defaults that are valid themselves', () => {
  const ajv = new Ajv({ strictTypes: false, formats: { 'plain-text': true } });
  ajv.addVocabulary(['patternErrorMessage']);
  let tried = 0;
  for (const [path, node] of allNodes()) {
    if (JSON.stringify(node).includes('$ref')) continue;
    const values = [...(node.examples ?? []), ...(node.default === undefined ? [] : [node.default])];
    for (const value of values) {
      assert.ok(ajv.validate(node, value), `${path}: ${JSON.stringify(value)} ${ajv.errorsText()}`);
      tried += 1;
    }
  }
  assert.ok(tried > 60);
});
