import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileTexts, shown } from './shown-problems.ts';

/** The example of the language's description, as it stands there. */
const EXAMPLE = `version: 1

roots:                         # places this policy talks about
  frontend:
    path: ~/repos/frontend
    title: Frontend Repository # the root's \`name\` on the wire
  backend:
    path: ~/repos/backend
    access: read-only          # a cap: nobody gets more here
  projects:
    path: ~/src/*              # one root for each directory that matches …
    having: [.git, package.json]  # … and holds one of these: workspace detection

servers:                       # who asks, where a bare name is not enough
  filesystem: { command: [npx, -y, "@modelcontextprotocol/server-filesystem"] }
  git:        { socket: git }   # connects to the listener of this name; without one a warning, never matches

rules:                         # their order has no meaning
  - id: web-work
    allow: [frontend, backend]
    servers: [filesystem, git]
    access: read-write         # read-only when omitted
  - id: other-projects
    ask: [projects]
    servers: [filesystem]
    scopes: [session, 8h, always]
  - id: no-credentials
    deny: [~/.ssh, ~/.aws, ~/.config/gh]
    reason: Credential stores are never exposed

ceiling: [~/**, /srv/data/**]  # nothing outside these, whatever any rule says

tests:                         # run by check, by test, and before every activation
  - { server: filesystem, host: vscode, root: frontend, expect: allow, access: read-write }
  - { server: git, path: ~/.ssh, expect: deny, rule: no-credentials }
`;

const PROMPTS = `version: 1
prompts:
  review:
    description: Review
    visible-to: { servers: [x], hosts: [y], users: [ana] }
    arguments:
      language:  { description: "…", required: true, values: [python, { value: cobol, visible-to: { users: [bob] } }] }
      framework: { values: { python: [flask, django] }, depends-on: language }
      project:   { roots: true }
      file:      { paths: files, within: project, glob: "*.ts" }
    template: Review {language} {framework}
`;

test('the example of the language compiles; without a listener its git server is warned of', () => {
  const { policy, problems } = compileTexts({ 'example.yaml': EXAMPLE });
  assert.deepEqual(shown(problems), ['warning POLICY_NO_LISTENER 16:25']);
  assert.deepEqual(
    policy?.roots.map(({ name }) => name),
    ['frontend', 'backend', 'projects'],
  );
  assert.deepEqual(
    policy?.rules.map(({ id, effect }) => `${effect} ${id}`),
    ['allow web-work', 'ask other-projects', 'deny no-credentials'],
  );
  assert.equal(policy?.tests.length, 2);
});

test('the example compiles without a word where its listener is configured', () => {
  assert.deepEqual(compileTexts({ 'example.yaml': EXAMPLE }, { listeners: ['git'] }).problems, []);
});

test('the example of prompts compiles, and says of each argument where its values come from', () => {
  const { policy, problems } = compileTexts({ 'prompts.yaml': PROMPTS });
  assert.deepEqual(shown(problems), []);
  const [review] = policy?.prompts ?? [];
  assert.equal(review?.template, 'Review {language} {framework}');
  assert.deepEqual(review?.audience, { servers: ['x'], hosts: ['y'], users: [{ kind: 'name', name: 'ana' }] });
  assert.deepEqual(
    review?.arguments.map(({ name, required, source }) => [name, required, source]),
    [
      [
        'language',
        true,
        {
          kind: 'values',
          values: [
            { value: 'python', audience: {} },
            { value: 'cobol', audience: { users: [{ kind: 'name', name: 'bob' }] } },
          ],
        },
      ],
      [
        'framework',
        false,
        {
          kind: 'cases',
          dependsOn: 'language',
          cases: [
            {
              of: 'python',
              values: [
                { value: 'flask', audience: {} },
                { value: 'django', audience: {} },
              ],
            },
          ],
        },
      ],
      ['project', false, { kind: 'roots' }],
      ['file', false, { kind: 'paths', what: 'files', within: 'project', glob: '*.ts' }],
    ],
  );
});
