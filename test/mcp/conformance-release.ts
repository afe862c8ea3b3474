// A release of the official conformance suite against the endpoint of a real daemon, and against a server on RootsGuard where roots are
// asked for in answers. Which scenarios apply is read from docs/conformance.md. They name things of a server made for them: a policy declares
// the prompts, and the adapter exchanges the other names.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext, test } from 'node:test';
import { Suite, scenariosBelow } from '../support/conformance.ts';
import { openGuardedHttp } from '../support/guarded-http.ts';
import { openHttpAdapter } from '../support/http-adapter.ts';
import { TestHome } from '../support/serve.ts';

const POLICY = `roots: { fixtures: { path: ~/fixtures } }
rules: [{ id: fixtures, allow: [fixtures] }]
prompts:
  test_simple_prompt: { description: Simple, template: This is a simple prompt for testing. }
  test_prompt_with_arguments:
    description: With arguments
    arguments: { arg1: { required: true, description: One }, arg2: { required: true, description: Two } }
    template: "Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"
`;

/** Serves the endpoint; the URL. */
async function endpoint(t: Pick<TestContext, 'after'>): Promise<string> {
  const home = new TestHome(t, [
    'file home/fixtures/static-text This is the content of the static text resource.',
    'file home/fixtures/template/123/data {"id":"123"}',
    'file home/fixtures/watched-resource watched',
  ]);
  writeFileSync(join(home.home, 'fixtures/static-binary'), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x00]));
  home.policy(POLICY);
  await home.serve();
  return openHttpAdapter(t, home.socket, {
    'test://': `file://${home.home}/fixtures/`,
    // Called without its argument: an error that a model can act on.
    test_error_handling: 'check_path',
    // Any tool that answers.
    test_streaming_elicitation: 'list_roots',
    test_logging_tool: 'list_roots',
  });
}

function guarded(t: Pick<TestContext, 'after'>): Promise<string> {
  const tools = ['test_input_required_result_list_roots', 'test_input_required_result_elicitation'];
  return openGuardedHttp(t, { tools, prompts: ['test_input_required_result_prompt'] });
}

const SERVERS = {
  'the endpoint': endpoint,
  'a server on RootsGuard': guarded,
} as const;

export interface Release {
  /** Of the package. */
  readonly name: string;
  /** Of its table in docs/conformance.md. */
  readonly heading: string;
  readonly revision: string;
  /** Which of its scenarios are to stand in the table, by their revisions. */
  readonly isOf: (revisions: string) => boolean;
}

export const LEGACY: Release = {
  name: '@modelcontextprotocol/conformance',
  heading: 'Revisions up to 2025-11-25',
  revision: '2025-11-25',
  isOf: () => true,
};

export const MODERN: Release = {
  name: 'conformance-modern',
  heading: 'Revision 2026-07-28',
  revision: '2026-07-28',
  isOf: (revisions) => /2026-07-28|extension/.test(revisions),
};

/** Tests that the table is whole. */
export function testTable({ name, heading, isOf }: Release): void {
  test('docs/conformance.md says of each scenario whether it applies', async (t) => {
    const suite = await Suite.open(t, name);
    const all = suite.scenarios().flatMap((scenario) => (isOf(scenario.revisions) ? [scenario.name] : []));
    assert.deepEqual(
      scenariosBelow(heading)
        .map((scenario) => scenario.name)
        .toSorted(),
      all.toSorted(),
    );
  });
}

/** Makes a test of each scenario that applies to a server. */
export function testScenarios({ name, heading, revision }: Release, server: keyof typeof SERVERS): void {
  const ofServer = scenariosBelow(heading).filter(({ against }) => against === server);
  const open = SERVERS[server];
  describe(`${server} and the conformance suite, revision ${revision}`, () => {
    const { hooks, opened } = openOnce(async (t) => ({ suite: await Suite.open(t, name), url: await open(t) }));
    before(opened);
    after(hooks);
    for (const { name, excused } of ofServer) {
      it(`passes ${name}`, async () => {
        const { suite, url } = await opened();
        const failures = await suite.failures(name, url, revision);
        const failed = new Set(failures.map(({ id }) => id));
        assert.deepEqual([...failed].toSorted(), excused.toSorted(), JSON.stringify(failures, null, 2));
      });
    }
  });
}

/** What several tests share: opened by the first that wants it, closed by `hooks`. */
function openOnce<T>(open: (t: Pick<TestContext, 'after'>) => Promise<T>) {
  const hooks: (() => unknown)[] = [];
  let opening: Promise<T> | null = null;
  return {
    opened: () => {
      opening ??= open({ after: (hook) => void hooks.push(hook as () => unknown) });
      return opening;
    },
    hooks: async () => {
      for (const hook of hooks.reverse()) await hook();
    },
  };
}
