// Readers of JSON that are not ours, each of another kind: what others make of the bytes of a line.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { parse as parseLeniently } from 'jsonc-parser';
import { parse as parseYaml } from 'yaml';

/** What each text means to a reader as a JSON text; empty: nothing. */
type Reader = (texts: readonly Buffer[]) => readonly string[];

/** Read lines of base64, write what they make of them as ASCII JSON with sorted names, or an empty line. */
const PYTHON = `
import sys, json, base64
def fold(pairs): return {(k.lower() if isinstance(k, str) else k): v for k, v in pairs}
hook = {'last': dict, 'first': lambda pairs: dict(reversed(pairs)), 'fold-last': fold, 'fold-first': lambda pairs: fold(reversed(pairs))}[sys.argv[1]]
for line in sys.stdin:
    try: print(json.dumps(json.loads(base64.b64decode(line), object_pairs_hook=hook), sort_keys=True))
    except Exception: print()
`;
const PERL = `
use JSON::PP; use MIME::Base64;
my $reader = JSON::PP->new->utf8->max_depth(10000); my $writer = JSON::PP->new->ascii->canonical->max_depth(10000);
while (<STDIN>) { my $text = eval { $writer->encode($reader->decode(decode_base64($_))) }; print((defined $text ? $text : '') . "\\n"); }
`;

function byProgram(command: string, args: readonly string[]): Reader {
  return (texts) => {
    const input = texts.map((text) => `${text.toString('base64')}\n`).join('');
    const { stdout, stderr, status } = spawnSync(command, args, { input, encoding: 'utf8', maxBuffer: 1 << 28 });
    assert.equal(status, 0, stderr);
    return stdout.split('\n').slice(0, -1);
  };
}

function byFunction(parse: (text: string) => unknown): Reader {
  return (texts) =>
    texts.map((text) => {
      try {
        return JSON.stringify(parse(text.toString('utf8'))) ?? '';
      } catch {
        return '';
      }
    });
}

/** Of a name that stands twice they take the last, where they take it at all. */
export const READERS: Readonly<Record<string, Reader>> = {
  Python: byProgram('python3', ['-c', PYTHON, 'last']),
  Perl: byProgram('perl', ['-e', PERL]),
  YAML: byFunction((text) => parseYaml(text, { version: '1.2', schema: 'json' })),
};

/** Readers as there are in other languages: the first of two names, names in any case, and what is no JSON. */
export const ODD_READERS: Readonly<Record<string, Reader>> = {
  'the first of a name': byProgram('python3', ['-c', PYTHON, 'first']),
  'the last of a name in any case': byProgram('python3', ['-c', PYTHON, 'fold-last']),
  'the first of a name in any case': byProgram('python3', ['-c', PYTHON, 'fold-first']),
  'YAML, a name twice': byFunction((text) => parseYaml(text, { version: '1.2', schema: 'json', uniqueKeys: false })),
  'as far as it goes': byFunction((text) => parseLeniently(text, [], { allowTrailingComma: true })),
};
