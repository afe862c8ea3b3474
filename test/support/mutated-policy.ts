// Policies and what may be done to their texts: most of it breaks them.
import fc from 'fast-check';

/** A whole layer, for texts to be broken. */
export const SYSTEM = `version: 1
roots:
  shared: { path: /srv/shared, access: read-only }
rules:
  - { id: shared, allow: [shared], access: read-write }
  - id: no-keys
    deny: [~/.ssh, ~/web/keys]
    except: [~/web/keys/public]
    reason: Keys stay here
ceiling: [~/**, /srv/**]
tests:
  - { claims: s, root: shared, expect: allow, access: read-only }
`;
/** One below SYSTEM. */
export const USER = `version: 1
roots:
  web: { path: ~/web, nested: withhold }
  docs: { path: ~/docs, title: Documents }
  projects: { path: ~/src/*, having: [.git] }
servers:
  s: { command: [npx, s] }
rules:
  - { id: web, allow: [web], servers: [s], access: read-write }
  - { id: docs, allow: [docs], hosts: [editor] }
  - { id: ask-projects, ask: [projects], access: read-write, scopes: [session] }
  - { id: no-docs, deny: [~/docs/private], servers: [s] }
ceiling: [{ path: ~/**, access: read-write }, { path: /srv/shared, access: read-only }]
`;
const PIECES = [
  '"',
  "'",
  ':',
  '\n',
  '  ',
  '- ',
  '{',
  '}',
  '[',
  ']',
  ',',
  '#',
  '&a ',
  '*a',
  '<<: ',
  '---\n',
  '\t',
  '~',
  '/',
];
const WORDS = [
  'allow',
  'deny',
  'ask',
  'except: [x], ',
  'null',
  'true',
  '0x1',
  'version: 2\n',
  '\u202e',
  '\ufeff',
  'root',
];

/** What is done to a text: at this share of it so many characters are cut, doubled, or make room for something new. */
export interface Mutation {
  readonly at: number;
  readonly length: number;
  readonly act: 'delete' | 'insert' | 'double';
  readonly piece: string;
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.oneof(fc.nat(4), fc.nat(80)),
  act: fc.constantFrom('delete', 'insert', 'double'),
  piece: fc.constantFrom(...PIECES, ...WORDS),
});
export const mutations = fc.array(mutation, { minLength: 1, maxLength: 4 });

/** The text with that done to it. */
export function mutate(text: string, { at, length, act, piece }: Mutation): string {
  const start = Math.floor(at * text.length);
  const [before, cut, after] = [text.slice(0, start), text.slice(start, start + length), text.slice(start + length)];
  return before + { delete: '', insert: piece + cut, double: cut + cut }[act] + after;
}
