import { offByDefault, VISIBLE_TO } from './schema-peers.ts';
import { type JsonSchema, listOf, mapOfNames, mapWith, nameOf, oneOfWords, plainText, textOf } from './schema-terms.ts';

const VALUE: JsonSchema = {
  ...mapWith(
    { value: plainText('The value.', { examples: ['cobol'] }), 'visible-to': VISIBLE_TO },
    'A value, or a value that only some see.',
    { required: ['value'], minLength: 1, format: 'plain-text' },
  ),
  type: ['string', 'object'],
};

const ARGUMENT: JsonSchema = mapWith(
  {
    description: textOf('What it is for.', { examples: ['The language'] }),
    required: offByDefault('Must it be given?'),
    values: {
      type: ['array', 'object'],
      minItems: 1,
      minProperties: 1,
      items: VALUE,
      additionalProperties: listOf(VALUE, 'The values for this value of the other argument.'),
      description: 'The values to choose from: a list, or with `depends-on` a map from the other argument’s values.',
      examples: [['python', 'cobol'], { python: ['flask', 'django'] }],
    },
    'depends-on': nameOf('The argument whose value chooses among `values`.', { examples: ['language'] }),
    roots: offByDefault('The session’s roots are the values.'),
    paths: oneOfWords(['files', 'directories', 'any'], 'Paths inside the session’s roots are the values.', {
      examples: ['files'],
    }),
    within: nameOf('The argument that names the root of these paths.', { examples: ['project'] }),
    glob: plainText('Which names are offered: "*" is any text without "/", "?" any one character.', {
      examples: ['*.ts'],
    }),
  },
  'An argument and where its values come from.',
  { examples: [{ roots: true }, { paths: 'files', within: 'project', glob: '*.ts' }] },
);

/** An entry of `prompts`. */
export const PROMPT: JsonSchema = mapWith(
  {
    description: textOf('What the prompt is for.', { examples: ['Review'] }),
    'visible-to': VISIBLE_TO,
    arguments: mapOfNames(ARGUMENT, 'Arguments by name.', { examples: [{ project: { roots: true } }] }),
    template: textOf('The text; `{name}` stands for an argument.', { examples: ['Review {language}'] }),
  },
  'A prompt that the endpoint offers.',
  { required: ['template'], examples: [{ template: 'Review {project}', arguments: { project: { roots: true } } }] },
);
