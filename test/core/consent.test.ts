import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { identityFacts, keyText, parseScope, ruleText, scopesOf } from '../../src/core/consent.ts';
import { composePolicy } from '../../src/core/policy.ts';
import type { Layer, Rule } from '../../src/core/rule.ts';
import { HOUR_MS, keyOf, MINUTE_MS } from '../support/consents.ts';
import { layerFrom, peer } from '../support/policy.ts';

describe('parseScope()', () => {
  it('reads words and times up to a day', () => {
    for (const kind of ['once', 'session', 'always']) assert.deepEqual(parseScope(kind), { kind });
    assert.deepEqual(parseScope('1m'), { kind: 'time', ms: MINUTE_MS });
    assert.deepEqual(parseScope('1440m'), { kind: 'time', ms: 24 * HOUR_MS });
    assert.deepEqual(parseScope('24h'), { kind: 'time', ms: 24 * HOUR_MS });
  });
  for (const text of ['', '0m', '1441m', '25h', '8', '8H', '1d', '-1h', '1.5h', ' 8h', '8h ', 'constructor', '8h\n']) {
    it(`does not read ${JSON.stringify(text)}`, () => assert.equal(parseScope(text), null));
  }
});

/** The rule `r` of a policy, and the policy. */
function ruleIn(text: string): readonly [Rule, ReturnType<typeof composePolicy>] {
  const policy = composePolicy([layerFrom(text)]);
  return [policy.rules.find(({ id }) => id === 'r') ?? assert.fail(), policy];
}

const POLICY = `
roots: { a: { path: ~/a } }
servers: { s: { command: [npx, s] } }
rules:
  - { id: r, ask: [a], servers: [s], hosts: [h], reason: because, scopes: [session] }
`;

describe('ruleText()', () => {
  const before = ruleText(...ruleIn(POLICY));
  const same: readonly [says: string, text: string][] = [
    ['lines above it', `# a comment\n${POLICY}`],
    ['another rule', `${POLICY}  - { id: z, deny: [~/z] }`],
    ['what is said of another server', POLICY.replace('servers: {', 'servers: { t: { command: [t] },')],
    ['the order of its keys', POLICY.replace('id: r, ask: [a],', 'ask: [a], id: r,')],
  ];
  for (const [says, text] of same)
    it(`does not change with ${says}`, () => assert.equal(ruleText(...ruleIn(text)), before));

  const other: readonly [says: string, from: string, to: string][] = [
    ['what it asks for', 'ask: [a]', 'ask: [a], access: read-write'],
    ['whom it asks for', 'servers: [s]', 'servers: [s, t]'],
    ['the host', 'hosts: [h]', 'hosts: [i]'],
    ['how long', 'scopes: [session]', 'scopes: [session, always]'],
    ['why', 'because', 'since'],
    ['who may answer', 'reason:', 'approver: admin, reason:'],
    ['that it must be asked', 'reason:', 'mandatory: true, reason:'],
    ['what it excepts', 'reason:', 'except: [~/a/x], reason:'],
    ['where its root is', '~/a ', '~/b '],
    ['who its server is', 'npx, s', 'npx, t'],
    ['that its server is declared', 'servers: { s: { command: [npx, s] } }', ''],
    ['that its host is declared', 'servers: {', 'hosts: { h: { exe: /usr/bin/h } }\nservers: {'],
  ];
  for (const [says, from, to] of other) {
    it(`changes with ${says}`, () => assert.notEqual(ruleText(...ruleIn(POLICY.replace(from, to))), before));
  }
});

test('ruleText() is another in another layer: who may edit the rule is another', () => {
  const text = (layer: Layer) => {
    const policy = composePolicy([layerFrom(POLICY, layer)]);
    return ruleText(policy.rules[0] ?? assert.fail(), policy);
  };
  assert.notEqual(text('system'), text('user'));
});

describe('identityFacts()', () => {
  const launch = { argv: ['node', 'server.js'], cwd: '/w' };
  const launched = { class: 'launched', claimed: { server: 's', host: 'h', launch } } as const;
  it('names all that identifies who asks, and no number of a process', () => {
    assert.deepEqual(identityFacts(peer('s', launched)), [
      'class=launched',
      'server=s',
      'host=h',
      'command=["node","server.js"]',
      'cwd=/w',
    ]);
    const direct = peer('s', { observed: { pid: 7, exe: '/bin/x', listener: 'l', user: { uid: 1 } } });
    assert.deepEqual(identityFacts(direct), ['class=claimed', 'server=s', 'listener=l', 'exe=/bin/x']);
  });
  it('is another with another command, argument, directory, host, class or name of 100 equal characters first', () => {
    const long = 'x'.repeat(100);
    const all = [
      peer('s', launched),
      peer('s', { ...launched, class: 'claimed' }),
      ...[
        { server: 's', host: 'i', launch },
        { server: 's', host: 'h', launch: { ...launch, argv: ['node', 'server.js', '-x'] } },
        { server: 's', host: 'h', launch: { ...launch, argv: ['node server.js'] } },
        { server: 's', host: 'h', launch: { ...launch, cwd: '/v' } },
        { server: `${long}1`, host: 'h', launch },
        { server: `${long}2`, host: 'h', launch },
      ].map((claimed) => peer('s', { ...launched, claimed })),
    ].map((one) => JSON.stringify(identityFacts(one)));
    assert.equal(new Set(all).size, all.length);
  });
});

test('keyText() is another for each part that is another', () => {
  const parts = { facts: ['x'], uid: 1, path: '/x', identity: '9:9:9', rule: 'x', digest: 'x' };
  const texts = Object.entries(parts).map(([name, value]) => keyText(keyOf({ [name]: value })));
  assert.equal(new Set([keyText(keyOf()), ...texts]).size, texts.length + 1);
});

test('scopesOf() offers what the rule does, and in a sensitive place no more than a session', () => {
  const rule = (scopes: string) => ruleIn(POLICY.replace('scopes: [session]', scopes))[0];
  assert.deepEqual(scopesOf(rule(''), false), ['session', '8h']);
  assert.deepEqual(scopesOf(rule('scopes: [always, once]'), false), ['always', 'once']);
  assert.deepEqual(scopesOf(rule('scopes: [always, once]'), true), ['once']);
  assert.deepEqual(scopesOf(rule('scopes: [always]'), true), ['session']);
});
