// What the guard passes, as readers see it that are not ours: no call in it names a path outside, whatever stands twice, is
// written behind escapes, in odd case or in bytes that mean nothing.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { NAMES_PLACES } from '../../../src/core/protocol.ts';
import { Guard } from '../../../src/run/guard/guard.ts';
import { readMessage } from '../../../src/run/message.ts';
import { GUARDED_TREE, guardedPlaces, isHeld, plainlyNamed } from '../../support/guarded-tree.ts';
import { ODD_READERS, READERS } from '../../support/json-readers.ts';
import { makeTree } from '../../support/tree.ts';

/** A text as JSON, with some of its characters behind escapes, or all of it as it is. */
function written(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(text, fc.nat(), fc.constantFrom('plain', 'plain', 'escape', 'slashes')).map(([it, at, how]) => {
    if (how === 'slashes') return JSON.stringify(it).replaceAll('/', '\\/');
    if (how === 'plain' || it === '') return JSON.stringify(it);
    const i = at % it.length;
    const code = it.charCodeAt(i).toString(16).padStart(4, '0');
    return `${JSON.stringify(it.slice(0, i)).slice(0, -1)}\\u${code}${JSON.stringify(it.slice(i + 1)).slice(1)}`;
  });
}

/** A name, often another spelling of it. */
function named(name: string): fc.Arbitrary<string> {
  const upper = name.charAt(0).toUpperCase() + name.slice(1);
  const long = name.replace('s', '\u017f').replace('k', '\u212a');
  return written(fc.constantFrom(name, name, name, name, upper, name.toUpperCase(), long));
}

/** The members in any order, and perhaps some of them again. */
function objectOf(...members: readonly fc.Arbitrary<string>[]): fc.Arbitrary<string> {
  const again = fc.array(fc.oneof(...members), { maxLength: 1 });
  const all = fc.tuple(fc.tuple(...members), fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, again));
  return all
    .chain(([once, twice]) => fc.shuffledSubarray([...once, ...twice], { minLength: members.length - 1 }))
    .map((list) => `{${list.join(', ')}}`);
}

const member = (name: fc.Arbitrary<string>, value: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(name, value).map(([key, json]) => `${key}: ${json}`);

/** Lines that are mostly calls: some damaged, some twice what they are. */
function randomLine(base: string): fc.Arbitrary<Buffer> {
  const inside = [`${base}/a/f`, `${base}/r/f`, `${base}/a/self/x`];
  const outside = [`${base}/out/f`, `${base}/a/out/f`, '/etc/passwd'];
  const places = fc.constantFrom(...inside, ...inside, ...outside);
  const path = written(
    fc.oneof(
      places,
      places.map((place) => `file://${place}`),
    ),
  );
  const args = objectOf(
    member(named('path'), path),
    member(named('source'), path),
    member(written(fc.constant('x')), fc.constant('1')),
  );
  const method = written(fc.constantFrom('tools/call', 'tools/call', 'resources/read', 'prompts/get', 'ping'));
  const params = objectOf(
    member(named('name'), written(fc.constantFrom('t', 'u'))),
    member(named('arguments'), args),
    member(named('uri'), path),
  );
  const message = objectOf(
    member(named('jsonrpc'), fc.constant('"2.0"')),
    member(named('id'), fc.constantFrom('1', '"x"', 'null')),
    member(named('method'), method),
    member(named('params'), params),
  );
  const damage = fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, fc.tuple(fc.nat(), fc.nat(255)));
  const around = fc.constantFrom('', '', '', '', '\ufeff', ' ', '\r', '[]', '{}');
  return fc.tuple(message, damage, around, around).map(([text, change, before, after]) => {
    const bytes = Buffer.from(`${before}${text}${after}`);
    if (change !== null) bytes[change[0] % bytes.length] = change[1];
    return bytes;
  });
}

/** The parameters of a call, as a reader has it that gives itself the names in lower case or as they stand. */
function callIn(view: string): unknown {
  const value: unknown = view === '' ? null : JSON.parse(view);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const { method, params } = value as { readonly method?: unknown; readonly params?: unknown };
  return typeof method === 'string' && NAMES_PLACES.has(method) ? params : null;
}

it('Guard passes nothing in which another reader sees a call that names a path outside', (t) => {
  const base = makeTree(t, GUARDED_TREE);
  const guard = new Guard({
    timer: () => () => undefined,
    cwd: () => base,
    onAnswer: assert.fail,
    onRefused: () => {},
  });
  guard.update({ guard: 'on', paths: [], relativePaths: 'pass', tools: { t: 'read' } }, guardedPlaces(base));
  const lines = fc.sample(randomLine(base), 8_000).filter((line) => !line.includes(0x0a));
  const passed = lines.filter((line) => guard.judge(line, readMessage(line)) === 'pass');
  let calls = 0;
  for (const [reader, readAll] of Object.entries({ ...READERS, ...ODD_READERS })) {
    for (const [i, view] of readAll(passed).entries()) {
      const params = callIn(view);
      if (params !== null) calls += 1;
      for (const path of plainlyNamed(params)) {
        assert.ok(isHeld(base, path), `${reader} sees ${path}: ${passed[i]?.toString('latin1')}`);
      }
    }
  }
  assert.ok(calls > 1_500, `only ${calls} calls`);
});
