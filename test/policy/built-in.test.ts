import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANY, covers, literalPattern, type PathPattern } from '../../src/core/pattern.ts';
import { builtInLayer, sensitivePlaces } from '../../src/policy/built-in.ts';
import { ANA } from './shown-problems.ts';

/** The built-in rules that deny a place. */
function deniedBy(path: string, home = '/home/ana'): string[] {
  const { rules } = builtInLayer({ expansions: { ...ANA, home }, own: ['/home/ana/.config/rootsd'] });
  const place = literalPattern(path);
  const isIn = (targets: readonly { readonly kind: string; readonly pattern?: PathPattern }[]) =>
    targets.some(({ pattern }) => pattern !== undefined && covers(pattern, place));
  return rules.filter(({ targets, except }) => isIn(targets) && !isIn(except)).map(({ id }) => id);
}

test('builtInLayer() denies places of the system, of other users and of rootsd itself', () => {
  const rows: readonly (readonly [path: string, ...rules: string[]])[] = [
    ['/proc/self/root', 'built-in:system'],
    ['/sys', 'built-in:system'],
    ['/dev/shm', 'built-in:system'],
    ['/boot/x', 'built-in:system'],
    ['/run/user/1000', 'built-in:system'],
    ['/run/user/1000/gvfs/x'],
    ['/run/user/1001/gvfs/x', 'built-in:system'],
    ['/run/media/ana/disk'],
    ['/home/bob/x', 'built-in:homes'],
    ['/home/ana/x'],
    ['/home/anabel', 'built-in:homes'],
    ['/Users/bob', 'built-in:homes'],
    ['/var/home/bob', 'built-in:homes'],
    ['/root/x', 'built-in:homes'],
    ['/home/ana/.config/rootsd/policies.d', 'built-in:rootsd'],
    ['/srv/x'],
    ['/procx'],
  ];
  for (const [path, ...rules] of rows) assert.deepEqual(deniedBy(path), rules, path);
});

test('builtInLayer() excepts the own home wherever it lies, and no home that holds the others', () => {
  assert.deepEqual(deniedBy('/root/x', '/root'), []);
  assert.deepEqual(deniedBy('/home/corp/ana/x', '/home/corp/ana'), []);
  assert.deepEqual(deniedBy('/home/corp/bob', '/home/corp/ana'), ['built-in:homes']);
  assert.deepEqual(deniedBy('/home/bob', '/'), ['built-in:homes']);
  assert.deepEqual(deniedBy('/home/bob', '/home/'), ['built-in:homes']);
});

test('builtInLayer() grants nothing and declares nothing', () => {
  const layer = builtInLayer({ expansions: ANA, own: [] });
  assert.ok(layer.rules.every(({ effect, source }) => effect === 'deny' && source.layer === 'built-in'));
  assert.deepEqual([layer.roots, layer.servers, layer.hosts, layer.ceilings, layer.tests], [[], [], [], [], []]);
});

test('sensitivePlaces() lie in the home and have no stars', () => {
  const places = sensitivePlaces(ANA);
  const home = literalPattern(ANA.home);
  for (const place of places) assert.ok(covers(home, place) && !place.components.includes(ANY), place.text);
  const texts = places.map(({ text }) => text);
  const named =
    '~/.ssh ~/.gnupg ~/.aws ~/.azure ~/.kube ~/.docker ~/.config/gh ~/.config/gcloud ~/.netrc ~/.npmrc ~/.pypirc ~/.git-credentials ~/.password-store';
  for (const text of named.split(' ')) assert.ok(texts.includes(text), text);
});
