import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { questionRows, questionTitle } from '../../src/ask/question-text.ts';
import type { Question } from '../../src/core/question.ts';
import { ASKER, keyOf, questionOf } from '../support/consents.ts';

function row(name: string, more: Partial<Question>): string | undefined {
  return new Map(questionRows(questionOf(more))).get(name);
}

test('questionRows() says who asks, and how that is known, for what, under which rule and why', () => {
  const question = questionOf({
    asker: { server: 'fs', class: 'launched', host: 'vscode', user: 'ana' },
    written: '~/a',
    reason: 'Work that it was not made for',
  });
  assert.deepEqual(questionRows(question), [
    ['server', '"fs" (launched)'],
    ['host', '"vscode" (claimed)'],
    ['user', 'ana'],
    ['path', '/home/ana/a'],
    ['written as', "'~/a'"],
    ['access', 'read-write'],
    ['rule', 'r (user.yaml:2)'],
    ['reason', 'Work that it was not made for'],
    ['scopes', 'session, 8h, always'],
  ]);
  assert.equal(questionTitle(question), '"fs" (launched) asks for read-write access');
});

test('questionRows() leaves out what is not known, and the path as written where it is the real one', () => {
  assert.deepEqual(
    questionRows(questionOf()).map(([name]) => name),
    ['server', 'user', 'path', 'access', 'rule', 'scopes'],
  );
  assert.equal(row('server', { asker: { ...ASKER, server: null } }), 'a nameless server (claimed)');
});

test('questionRows() says what else than its name a server is known by', () => {
  const known = (...facts: readonly string[]) =>
    row('known by', { key: keyOf({ facts: ['class=claimed', 'server=s', ...facts] }) });
  assert.equal(known(), undefined);
  assert.equal(known('listener=git-in', 'exe=/usr/bin/node'), 'listener git-in');
  assert.equal(known('command=["npx","-y","a b"]', 'cwd=/w'), "command npx -y 'a b'");
  assert.equal(known('exe=/usr/bin/node'), 'program /usr/bin/node');
  assert.doesNotMatch(known('command=["a\\nrule: mine","\\u202e"]') ?? '', /[\p{Cc}\p{Cf}]/u);
  assert.ok((known(`command=["${'x'.repeat(10_000)}"]`) ?? '').length < 180);
});

describe('what others have chosen', () => {
  // A claim must not look like our own words.
  const names: readonly [name: string, shown: string][] = [
    ['fs" (attested)', '"fs\\" (attested)" (claimed)'],
    ['fs\\', '"fs\\\\" (claimed)'],
    ['fs\nrule: mine', '"fs\\nrule: mine" (claimed)'],
    ['\u001b[2J', '"\\x1b[2J" (claimed)'],
    ['\u202esf', '"\\u202esf" (claimed)'],
  ];
  for (const [server, shown] of names) {
    it(`shows the name ${JSON.stringify(server)} as ${shown}`, () => {
      assert.equal(row('server', { asker: { ...ASKER, server } }), shown);
    });
  }

  it('is escaped in paths, reasons and names of users and rules', () => {
    const hidden = 'a\u2066\u0007\nb';
    const question = questionOf({
      asker: { server: hidden, class: 'claimed', host: hidden, user: hidden },
      key: keyOf({ path: `/${hidden}` }),
      written: `/w/${hidden}`,
      rule: { id: hidden, file: hidden, line: 1, layer: 'user' },
      reason: hidden,
    });
    for (const [name, value] of questionRows(question)) assert.doesNotMatch(value, /[\p{Cc}\p{Cf}]/u, name);
  });

  it('is quoted where a path has blanks', () => {
    assert.equal(row('path', { key: keyOf({ path: '/a (read-only)' }) }), "'/a (read-only)'");
  });

  it('is cut in the middle where it is long, so that both ends are seen', () => {
    const path = row('path', { key: keyOf({ path: `/home/ana/${'x'.repeat(4_000)}/secret` }) }) ?? '';
    assert.match(path, /^'\/home\/ana\/x+…x+\/secret'$/);
    assert.ok(path.length < 170);
    const server = row('server', { asker: { ...ASKER, server: 'n'.repeat(10_000) } }) ?? '';
    assert.match(server, /^"n+…n+" \(claimed\)$/);
    assert.ok(server.length < 100);
    assert.ok((row('reason', { reason: 'r'.repeat(10_000) }) ?? '').length <= 300);
  });
});
