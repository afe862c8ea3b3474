import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ANY, type Expansions, parsePolicyPath, patternPath } from '../../src/core/pattern.ts';

const ANA: Expansions = { home: '/home/ana', user: 'ana', uid: 1000, hostname: 'box' };

function pathOf(text: string, expansions = ANA, stars = true): string {
  const parsed = parsePolicyPath(text, expansions, { stars });
  return parsed.ok ? patternPath(parsed.pattern) : `${parsed.fault}: ${parsed.why}`;
}

function faultOf(text: string, expansions = ANA, stars = true): string {
  const parsed = parsePolicyPath(text, expansions, { stars });
  return parsed.ok ? `ok: ${patternPath(parsed.pattern)}` : parsed.fault;
}

describe('parsePolicyPath()', () => {
  it('reads absolute paths, homes and placeholders', () => {
    const rows: readonly (readonly [text: string, path: string])[] = [
      ['/', '/'],
      ['/srv/data', '/srv/data'],
      // Only `~` and `~/` at the start are the home (B077).
      ['~', '/home/ana'],
      ['~/src', '/home/ana/src'],
      ['/vol/~Name', '/vol/~Name'],
      ['/vol/~', '/vol/~'],
      ['/vol/~/x', '/vol/~/x'],
      // Placeholders anywhere, several, beside other text.
      ['${home}', '/home/ana'],
      ['${home}/x', '/home/ana/x'],
      ['${home}-old', '/home/ana-old'],
      ['/srv/${user}/${uid}', '/srv/ana/1000'],
      ['/srv/${hostname}.d', '/srv/box.d'],
      ['/jail${home}', '/jail/home/ana'],
      // The same place (B071); otherwise neither trimmed nor normalized.
      ['//srv//data/', '/srv/data'],
      ['/srv/./data/.', '/srv/data'],
      ['/srv/data ', '/srv/data '],
      ['/srv/Data\\x', '/srv/Data\\x'],
      ['/srv/e\u0301', '/srv/e\u0301'],
      ['/srv/$HOME', '/srv/$HOME'],
      ['/srv/...', '/srv/...'],
    ];
    for (const [text, path] of rows) assert.equal(pathOf(text), path, JSON.stringify(text));
  });

  it('takes `*` as one component and `**` as everything below, only as whole components', () => {
    const rows: readonly (readonly [text: string, path: string])[] = [
      ['~/src/*', '/home/ana/src/*'],
      ['/home/*/.ssh', '/home/*/.ssh'],
      ['/srv/**', '/srv'],
      ['/srv/**/', '/srv'],
      ['/srv/*/**', '/srv/*'],
      ['/**', '/'],
      ['/srv/*.ts', '/srv/*.ts'],
      ['/srv/***', '/srv/***'],
      ['/srv/[a]{b}?', '/srv/[a]{b}?'],
    ];
    for (const [text, path] of rows) assert.equal(pathOf(text), path, text);
    const parsed = parsePolicyPath('/a/*/*x', ANA, { stars: true });
    assert.deepEqual(parsed.ok && parsed.pattern.components, ['a', ANY, '*x']);
  });

  it('refuses what is not one path, and says which fault', () => {
    const rows: readonly (readonly [text: string, fault: string])[] = [
      ['', 'empty'],
      ['src', 'relative'],
      ['./src', 'relative'],
      [' /srv', 'relative'],
      ['*', 'relative'],
      ['$HOME/x', 'relative'],
      ['${user}/x', 'relative'],
      ['file:///srv', 'relative'],
      ['~bob/', 'other-home'],
      ['~bob', 'other-home'],
      ['~~', 'other-home'],
      ['/srv/${workspace}', 'placeholder'],
      ['/srv/${}', 'placeholder'],
      ['/srv/${HOME}', 'placeholder'],
      ['/srv/${home', 'placeholder'],
      ['/srv/../etc', 'dot-dot'],
      ['~/..', 'dot-dot'],
      ['/srv/a\nb', 'character'],
      ['/srv/a\u0000b', 'character'],
      ['/srv/a\u202eb', 'character'],
      ['/srv/a\u2028b', 'character'],
      ['/srv/a\ud800b', 'character'],
      ['/srv/**/x', 'star'],
      ['/**/**', 'star'],
      [`/${'a'.repeat(4095)}`, 'too-long'],
      [`/${'ä'.repeat(2048)}`, 'too-long'],
    ];
    for (const [text, fault] of rows) assert.equal(faultOf(text), fault, JSON.stringify(text));
  });

  it('refuses stars where one place must be named', () => {
    for (const text of ['/srv/*', '/srv/**', '/a/*/b']) assert.equal(faultOf(text, ANA, false), 'star', text);
    assert.equal(pathOf('/srv/*.ts', ANA, false), '/srv/*.ts');
  });

  it('never gives a value more power than its text: no star, no dot-dot, no control, no emptiness', () => {
    const evil = (user: string): Expansions => ({ ...ANA, user });
    const parsed = parsePolicyPath('/home/${user}/x', evil('*'), { stars: true });
    assert.deepEqual(parsed.ok && parsed.pattern.components, ['home', '*', 'x']);
    assert.equal(faultOf('/home/${user}/x', evil('..')), 'dot-dot');
    assert.equal(faultOf('/home/${user}/x', evil('a\u202e')), 'character');
    assert.equal(faultOf('/home/${user}/x', evil('')), 'placeholder');
    assert.equal(faultOf('~/x', { ...ANA, home: '' }), 'placeholder');
    assert.equal(faultOf('~/x', { ...ANA, home: 'ana' }), 'relative');
    assert.equal(pathOf('/x/${user}', evil('${home}')), '/x/${home}');
  });

  it('keeps the text as written for messages', () => {
    const parsed = parsePolicyPath('~/src/', ANA, { stars: true });
    assert.equal(parsed.ok && parsed.pattern.text, '~/src/');
  });
});
