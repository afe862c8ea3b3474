// `npm run docs`: writes what is made from the code. test/docs.test.ts holds that it is up to date.

import { writeFileSync } from 'node:fs';
import { generatedFiles } from './generated-files.ts';

for (const { url, text } of generatedFiles()) writeFileSync(url, text);
