// The command line as the kernel has it. Node decodes it as UTF-8 and puts U+FFFD for what is none: a name that was not
// meant, which may exist.

import { readFileSync } from 'node:fs';
import { RootsError } from '../core/errors.ts';

/** Is this the text of an argument or variable that was not valid UTF-8? */
export function isMangled(text: string, source: 'cmdline' | 'environ' = 'cmdline'): boolean {
  return text.includes('\ufffd') && !readBytes(source).includes(Buffer.from(text));
}

/** Throws a RootsError USAGE for a text that is not what was given. */
export function refuseMangled(what: string, text: string, source: 'cmdline' | 'environ' = 'cmdline'): void {
  if (isMangled(text, source)) throw new RootsError('USAGE', { what: `Cannot use ${what}: it is not valid UTF-8` });
}

/** Nothing where the system does not show it: then every U+FFFD is taken for a mangled byte. */
function readBytes(source: 'cmdline' | 'environ'): Buffer {
  try {
    return readFileSync(`/proc/self/${source}`);
  } catch {
    return Buffer.alloc(0);
  }
}
