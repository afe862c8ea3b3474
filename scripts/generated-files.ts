// The files of this repository that are made from its code, or hold parts that are.

import { readFileSync } from 'node:fs';
import { toJson } from '../src/core/display.ts';
import { SCHEMAS } from '../src/policy/schema.ts';
import { errorsPage } from './errors-page.ts';
import { hostPages } from './host-pages.ts';
import { withKeyTables } from './key-tables.ts';
import { serverPages } from './server-pages.ts';

export interface GeneratedFile {
  readonly url: URL;
  /** What it must hold. */
  readonly text: string;
}

/** All of them, as the code has them now. */
export function generatedFiles(): readonly GeneratedFile[] {
  const policyPage = new URL('../docs/policy.md', import.meta.url);
  return [
    { url: new URL('../docs/errors.md', import.meta.url), text: errorsPage() },
    { url: policyPage, text: withKeyTables(readFileSync(policyPage, 'utf8')) },
    ...[...serverPages(), ...hostPages()].map(({ path, text }) => ({
      url: new URL(`../docs/${path}`, import.meta.url),
      text,
    })),
    // What `rootsd schema` prints.
    { url: new URL('../config/policy.schema.json', import.meta.url), text: `${toJson(SCHEMAS.policy, 2)}\n` },
  ];
}
