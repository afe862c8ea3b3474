import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { walkLinks } from '../../src/disk/link-walk.ts';
import { makeTree } from '../support/tree.ts';

describe('walkLinks()', () => {
  it('names every link on the way, in order, and what the way ends in', (t) => {
    const base = makeTree(t, ['dir a/real', 'link a/l -> ../b/m', 'link b/m -> ../c', 'link c -> a/real']);
    assert.deepEqual(walkLinks(`${base}/a/l/x/y`), {
      ok: true,
      links: [
        { directory: `${base}/a`, name: 'l' },
        { directory: `${base}/b`, name: 'm' },
        { directory: base, name: 'c' },
      ],
      reached: `${base}/a/real`,
      missing: ['x', 'y'],
    });
    assert.deepEqual(walkLinks('/'), { ok: true, links: [], reached: '/', missing: [] });
  });

  it('follows forty links and no more, and no loop', (t) => {
    const lines = Array.from({ length: 41 }, (_, i) => `link l${i + 1} -> ${i === 0 ? 'end' : `l${i}`}`);
    const base = makeTree(t, ['dir end', 'link loop -> loop', ...lines]);
    const errnoOf = (name: string) => {
      const way = walkLinks(`${base}/${name}`);
      return way.ok ? 'ok' : way.errno;
    };
    assert.deepEqual(['l40', 'l41', 'loop'].map(errnoOf), ['ok', 'ELOOP', 'ELOOP']);
  });
});
