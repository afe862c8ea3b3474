// Targets that are meant to fail: who reports no fault of theirs would report none of ours.
import { material, type Target } from './target.ts';

const shared = { batch: 50, ...material(['a'], ['!']) };

export const broken: Target = {
  name: 'broken',
  ...shared,
  check(input) {
    if (input.includes('!')) throw new Error('there is one');
  },
};

export const endless: Target = {
  name: 'endless',
  ...shared,
  check(input) {
    while (input.includes('!'));
  },
};
