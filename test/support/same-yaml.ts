import assert from 'node:assert/strict';
import { checkText } from '../../src/policy/decode-text.ts';
import { parseAnyYaml } from '../../src/policy/parse-yaml.ts';
import { readPlainYaml } from '../../src/policy/plain-yaml.ts';

/** What is read as plain YAML must be what all of YAML says it is, to the last place. Returns whether it was plain. */
export function assertSameYaml(text: string): boolean {
  const { source, problems } = checkText('f', text);
  const plain = problems.length > 0 ? null : readPlainYaml(source);
  if (plain === null) return false;
  const any = parseAnyYaml(source);
  const shown = JSON.stringify(text);
  assert.deepEqual(any.problems, [], shown);
  assert.deepEqual(plain.value, any.yaml?.value, shown);
  // Also the order of keys.
  assert.equal(JSON.stringify(plain.value), JSON.stringify(any.yaml?.value), shown);
  assert.deepEqual([...plain.locations].sort(), [...(any.yaml?.locations ?? [])].sort(), shown);
  assert.deepEqual([...plain.reported], [...(any.yaml?.reported ?? [])], shown);
  return true;
}
