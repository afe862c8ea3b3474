import { offByDefault } from './schema-peers.ts';
import { accessOf, type JsonSchema, listOf, mapWith, oneOfWords, plainText } from './schema-terms.ts';

/** An entry of `roots`. */
export const ROOT: JsonSchema = mapWith(
  {
    path: plainText(
      'Where it is: absolute, or beginning with "~", "${home}", "${user}", "${uid}" or "${hostname}". With "*" as its last ' +
        'component it stands for one root for each directory there.',
      { examples: ['~/repos/frontend', '~/src/*'] },
    ),
    title: plainText('What peers are told it is called; omitted: its name.', { examples: ['Frontend Repository'] }),
    access: accessOf('A cap: nobody gets more here; omitted: none.', { examples: ['read-only'] }),
    having: listOf(
      plainText('A file name.', { pattern: '^[^/]+$', patternErrorMessage: 'a file name without "/"' }),
      'Of a path that ends in "*": only directories that hold one of these files.',
      { examples: [['.git', 'package.json']] },
    ),
    kind: oneOfWords(['directory', 'file'], 'What it is on the disk.', { default: 'directory', examples: ['file'] }),
    symlinks: oneOfWords(['inside', 'none'], 'Which links below it may be followed.', {
      default: 'inside',
      examples: ['none'],
    }),
    nested: oneOfWords(
      ['withhold', 'carve'],
      'When something denied lies inside: withhold the whole root, or expose the rest where that can be enforced.',
      { default: 'withhold', examples: ['carve'] },
    ),
    sensitive: offByDefault('A person is always asked, for a session at most.'),
  },
  'A place by name.',
  { required: ['path'], examples: [{ path: '~/repos/frontend', title: 'Frontend Repository' }] },
);
