// The text of a policy, of rootsd.yaml and of a project file. Whatever a user writes below a system layer, it grants nothing
// that the system layer denies or has not within its ceiling. What is read as plain YAML is what all of YAML says it is.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { decide } from '../../src/core/decide.ts';
import { codes, type Problem } from '../../src/core/errors.ts';
import { covers, parsePolicyPath } from '../../src/core/pattern.ts';
import { composePolicy } from '../../src/core/policy.ts';
import { runTests, writtenEvidence } from '../../src/core/run-tests.ts';
import { circumstancesOf } from '../../src/core/standing.ts';
import { builtInLayer } from '../../src/policy/built-in.ts';
import { compileLayer } from '../../src/policy/compile-layer.ts';
import { decodeText } from '../../src/policy/decode-text.ts';
import { parseConfig } from '../../src/policy/read-config.ts';
import { readProject } from '../../src/policy/read-project.ts';
import { EXPANSIONS, layerFrom, peer } from '../support/policy.ts';
import { assertSameYaml } from '../support/same-yaml.ts';
import { material, type Target } from './target.ts';

const shipped = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const CORPUS = [
  shipped('policies/example.yaml'),
  shipped('policies/team-machine.yaml'),
  'version: 1\nroots:\n  a: { path: ~/a, access: read-only, nested: carve }\n  b: { path: "~/src/*", having: [.git] }\nservers:\n  s: { command: [npx, -y, x], roots: off }\nrules:\n  - { id: r, allow: [a, b/x], servers: [s], access: read-write }\n  - { id: d, deny: [~/.ssh, a], except: [~/a/b], reason: because }\nceiling: [~/**]\ntests:\n  - { server: s, root: a, expect: deny, rule: d }\n',
  'version: 1\nroots: { w: { path: ~/code/x }, o: { path: /srv/y } }\nrules: [{ id: all, allow: [w, o], access: read-write }]\n',
  'version: 1\nlayers: { system: /etc/rootsd/policies.d, user: ~/.config/rootsd/policies.d }\nlisteners: { git: { path: git.sock, mode: "0600", speaks: server } }\nlimits: { message: 4MiB, sessions: 4096, queue: 1MiB }\nlog: { level: info }\naudit: { file: audit.jsonl, size: 10MiB, keep: 5 }\n',
  'version: 1\naccess: read-only\ndeny: [secret, "*/.env"]\nask: true\n',
  'version: 1\nprompts:\n  p: { description: d, arguments: { l: { values: [a, { value: b, visible-to: { users: [bob] } }] } }, template: "x {l}" }\n',
];
const WORDS = [
  'version: 1\n',
  '\nroots:\n',
  '\nrules:\n',
  '\nceiling:',
  '- ',
  ': ',
  '{ ',
  ' }',
  '[',
  ']',
  ', ',
  '~/',
  '/**',
  '/*',
  '${home}',
  '..',
  'allow: ',
  'deny: ',
  'ask: ',
  'except: ',
  'access: read-write',
  '&a ',
  '*a',
  '<<: *a',
  '!!str ',
  '!x ',
  '"',
  "'",
  '|\n',
  '>-\n',
  '# ',
  '---\n',
  '...\n',
  '\t',
  '\ufeff',
  '\u202e',
  '\u0000',
  '0o7',
  '007',
  '1e999',
  '9007199254740993',
  'null',
  '? ',
  '%YAML 1.1\n',
];

const FILE = 'fuzz.yaml';
const builtIn = builtInLayer({ expansions: EXPANSIONS, own: [] });
const system = layerFrom(
  'roots: { s: { path: /home/ana/s } }\nrules: [{ id: never, deny: [/home/ana/never] }]\nceiling: [/home/ana/**]\n',
  'system',
  [builtIn],
);
const pattern = (path: string) => {
  const parsed = parsePolicyPath(path, EXPANSIONS, { stars: true });
  assert.ok(parsed.ok);
  return parsed.pattern;
};
const [CEILING, NEVER] = [pattern('/home/ana/**'), pattern('/home/ana/never')];
const PEERS = [peer('s'), peer('filesystem', { host: 'vscode' }), peer(null)];
const PLACES = {
  expansions: EXPANSIONS,
  policyDirectories: { system: '/etc/rootsd/policies.d', user: '/home/ana/.config/rootsd/policies.d' },
};

export const policies: Target = {
  name: 'policies',
  batch: 40,
  ...material(CORPUS, WORDS),

  check(input) {
    readProject('/home/ana/s', { bytes: input });
    const text = decodeText(FILE, input, 64 * 1024);
    if (typeof text !== 'string') return checkProblems([text], input.toString());
    assertSameYaml(text);
    const config = parseConfig(FILE, text, PLACES);
    if (config.state !== 'absent') checkProblems(config.problems, text);
    const files = [{ path: FILE, text }];
    const upper = [builtIn, system];
    const { policy, problems } = compileLayer({ layer: 'user', files, expansions: EXPANSIONS, upper });
    checkProblems(problems, text);
    assert.equal(
      policy === null,
      problems.some(({ severity }) => severity === 'error'),
    );
    if (policy === null) return;
    const layers = [...upper, policy];
    runTests(layers, policy);
    const evidence = writtenEvidence(composePolicy(layers));
    for (const root of evidence.roots) {
      for (const one of PEERS) {
        const decision = decide(evidence, one, root, circumstancesOf(evidence, one));
        if (decision.effect !== 'allow') continue;
        assert.ok(covers(CEILING, root.written), 'a user layer grants outside of the ceiling of the system layer');
        assert.ok(!covers(NEVER, root.written), 'a user layer grants what the system layer denies');
      }
    }
  },
};

/** Each has a code that there is, a sentence, and a position in the text. */
function checkProblems(problems: readonly Problem[], text: string): void {
  const lines = text.split(/\r\n|\r|\n/).length;
  for (const { code, message, line, column, file } of problems) {
    assert.ok(code in codes() && file === FILE, code);
    assert.match(message, /^[^\n]+$/);
    assert.ok(line >= 1 && line <= lines + 1 && column >= 1, `${code} at ${line}:${column} of ${lines} lines`);
  }
}
