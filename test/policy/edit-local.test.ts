import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { addAllowance, removeAllowance, removeEnded } from '../../src/policy/edit-local.ts';
import { compileTexts } from './shown-problems.ts';

const NOTES = { server: 'memory', root: 'notes', path: '~/notes', access: 'read-only' } as const;

/** A person's file: comments, an order and rules of its own. Blanks in brackets are as the writer sets them. */
const MINE = `# mine
version: 1
roots:
  notes: { path: ~/notes } # all of them
rules:
  # why this one is here
  - { id: by-hand, allow: [ notes ], servers: [ editor ] }
`;

describe('addAllowance()', () => {
  it('begins a file that declares the root and allows the server', () => {
    const { policy, problems } = compileTexts({ 'local.yaml': addAllowance('', NOTES) });
    assert.deepEqual(problems, []);
    assert.deepEqual(
      policy?.rules.map(({ id, servers, access }) => [id, servers, access]),
      [['allow-memory-notes', ['memory'], 'read-only']],
    );
    assert.equal(policy?.roots[0]?.path.text, '~/notes');
  });

  it('keeps comments, order and all other rules', () => {
    const { server, root, access } = NOTES;
    const text = addAllowance(MINE, { server, root, access });
    assert.ok(text.startsWith(MINE.trimEnd().slice(0, MINE.indexOf('rules:'))), text);
    assert.ok(text.includes('# why this one is here'), text);
    assert.deepEqual(
      compileTexts({ 'local.yaml': text }).policy?.rules.map(({ id }) => id),
      ['by-hand', 'allow-memory-notes'],
    );
  });

  it('gives a rule of ours the new access, and writes no second one', () => {
    const text = addAllowance(addAllowance('', NOTES), { ...NOTES, access: 'read-write' });
    assert.deepEqual(
      compileTexts({ 'local.yaml': text }).policy?.rules.map(({ access }) => access),
      ['read-write'],
    );
  });

  // Each is a name of ours and something else to a reader of YAML 1.1 or 1.2.
  for (const name of ['no', 'on', 'null', 'true', '1e3', '007', '1.10', '0x1f', '12', '1_000', '2001-12-15']) {
    it(`quotes what another reader would take for something else: ${name}`, () => {
      const text = addAllowance('', { server: name, root: name, path: `~/${name}`, access: 'read-only' });
      assert.deepEqual(compileTexts({ 'local.yaml': text }).problems, [], text);
      const [old, now] = (['1.1', '1.2'] as const).map((version) =>
        parse(text, { version, schema: schemaOf(version) }),
      );
      assert.deepEqual(old, now);
      assert.deepEqual(now.rules[0].servers, [name]);
      assert.deepEqual(Object.keys(now.roots), [name]);
    });
  }
});

describe('what ends', () => {
  const END = '2026-06-01T12:00:00Z';
  const END_MS = Date.parse(END);
  const rulesOf = (text: string) => (parse(text).rules ?? []) as { readonly id: string; readonly until?: string }[];

  it('stands beside what does not, and gets the new end', () => {
    const kept = addAllowance('', NOTES);
    const ending = addAllowance(kept, { ...NOTES, access: 'read-write', until: END, takenIds: ['allow-memory-notes'] });
    const later = addAllowance(ending, { ...NOTES, access: 'read-write', until: '2027-01-01T00:00:00Z' });
    assert.deepEqual(compileTexts({ 'local.yaml': later }).problems, []);
    assert.deepEqual(
      rulesOf(later).map(({ id, until }) => [id, until]),
      [
        ['allow-memory-notes', undefined],
        ['allow-memory-notes-2', '2027-01-01T00:00:00Z'],
      ],
    );
    const { removed } = removeAllowance(later, { roots: ['notes'], server: 'memory' });
    assert.deepEqual(removed, ['allow-memory-notes', 'allow-memory-notes-2']);
  });

  it('is removed once it has ended, with what it alone needed, and nothing else is', () => {
    const ending = addAllowance('', { ...NOTES, until: END });
    assert.equal(removeEnded(ending, END_MS - 1), ending);
    const { policy, problems } = compileTexts({ 'local.yaml': removeEnded(ending, END_MS) });
    assert.deepEqual([problems, policy?.roots, policy?.rules], [[], [], []]);
    assert.equal(removeEnded(MINE, END_MS), MINE);
    const byHand = MINE.replace('servers: [ editor ]', `servers: [ editor ], until: ${END}`);
    assert.equal(removeEnded(byHand, END_MS), byHand, 'a rule of a person is theirs to remove');
    assert.equal(removeEnded('', END_MS), '');
    const both = addAllowance(ending, { ...NOTES, server: 'git' });
    assert.deepEqual(
      rulesOf(removeEnded(both, END_MS)).map(({ id }) => id),
      ['allow-git-notes'],
    );
    assert.ok(parse(removeEnded(both, END_MS)).roots.notes);
  });
});

function schemaOf(version: '1.1' | '1.2'): 'yaml-1.1' | 'core' {
  return version === '1.1' ? 'yaml-1.1' : 'core';
}

describe('removeAllowance()', () => {
  it('takes back what addAllowance() gave, the declaration of the root with it', () => {
    const { text, removed } = removeAllowance(addAllowance('', NOTES), { roots: ['notes'], server: undefined });
    assert.deepEqual(removed, ['allow-memory-notes']);
    const { policy, problems } = compileTexts({ 'local.yaml': text });
    assert.deepEqual([problems, policy?.roots, policy?.rules], [[], [], []]);
  });

  it('leaves a root that another rule uses, and rules that are not ours', () => {
    const { server, root, access } = NOTES;
    const added = addAllowance(MINE, { server, root, access });
    const { text, removed } = removeAllowance(added, { roots: ['notes'], server: undefined });
    assert.deepEqual(removed, ['allow-memory-notes']);
    assert.equal(text, MINE);
  });

  it('takes it from the one server that is named', () => {
    const both = addAllowance(addAllowance('', NOTES), { server: 'git', root: 'notes', access: 'read-only' });
    assert.deepEqual(removeAllowance(both, { roots: ['notes'], server: 'git' }).removed, ['allow-git-notes']);
  });

  it('removes nothing where nothing is ours', () => {
    assert.deepEqual(removeAllowance(MINE, { roots: ['notes'], server: 'editor' }), { text: MINE, removed: [] });
  });
});
