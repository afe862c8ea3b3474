// The official conformance suite against the endpoint of a real daemon. Its scenarios name things of a server made for them: a
// policy declares the prompts, and the adapter exchanges the other names.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { build } from 'esbuild';
import { openHttpAdapter } from '../support/http-adapter.ts';
import { outcomeOf, TestHome } from '../support/serve.ts';
import { temporaryDirectory } from '../support/tree.ts';

const SCENARIOS = [
  'server-initialize',
  'ping',
  'completion-complete',
  'tools-list',
  'tools-call-error',
  'resources-list',
  'resources-read-text',
  'resources-read-binary',
  'resources-templates-read',
  'resources-subscribe',
  'resources-unsubscribe',
  'prompts-list',
  'prompts-get-simple',
  'prompts-get-with-args',
];

const NO_TOOL = 'wants a tool that answers what the scenario says, and the tools of the endpoint are given';
const NO_CLIENT = 'wants a tool that asks the client, and the endpoint asks nothing';
const ONLY_TEXT = 'wants a prompt that is not text, and a policy declares texts';
const OF_HTTP = 'is about the HTTP transport, which is the adapter’s of these tests';
const DO_NOT_APPLY: Readonly<Record<string, string>> = {
  'logging-set-level': 'the endpoint writes no log to its clients, and does not say that it does',
  'tools-call-simple-text': NO_TOOL,
  'tools-call-image': NO_TOOL,
  'tools-call-audio': NO_TOOL,
  'tools-call-embedded-resource': NO_TOOL,
  'tools-call-mixed-content': NO_TOOL,
  'tools-call-with-logging': NO_TOOL,
  'tools-call-with-progress': NO_TOOL,
  'json-schema-2020-12': NO_TOOL,
  'tools-call-sampling': NO_CLIENT,
  'tools-call-elicitation': NO_CLIENT,
  'elicitation-sep1034-defaults': NO_CLIENT,
  'elicitation-sep1330-enums': NO_CLIENT,
  'prompts-get-embedded-resource': ONLY_TEXT,
  'prompts-get-with-image': ONLY_TEXT,
  'server-sse-polling': OF_HTTP,
  'server-sse-multiple-streams': OF_HTTP,
  'dns-rebinding-protection': OF_HTTP,
};

const POLICY = `roots: { fixtures: { path: ~/fixtures } }
rules: [{ id: fixtures, allow: [fixtures] }]
prompts:
  test_simple_prompt: { description: Simple, template: This is a simple prompt for testing. }
  test_prompt_with_arguments:
    description: With arguments
    arguments: { arg1: { required: true, description: One }, arg2: { required: true, description: Two } }
    template: "Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"
`;

/** The suite as one file: a module of it wants what `node:fs` has since Node 22, for a part that is not run here. */
async function bundledSuite(t: TestContext): Promise<string> {
  const outfile = join(temporaryDirectory(t), 'conformance.cjs');
  const entry = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/dist/index.js');
  await build({ entryPoints: [entry], bundle: true, platform: 'node', format: 'cjs', outfile, logLevel: 'error' });
  return outfile;
}

test('the endpoint passes every scenario of the conformance suite that applies to it', async (t) => {
  const suite = await bundledSuite(t);
  const listed = execFileSync(process.execPath, [suite, 'list', '--server'], { encoding: 'utf8' });
  const all = [...listed.matchAll(/^ +- (\S+)/gm)].map(([, name]) => name);
  assert.deepEqual(
    all.toSorted(),
    [...SCENARIOS, ...Object.keys(DO_NOT_APPLY)].toSorted(),
    'scenarios to be told apart',
  );

  const home = new TestHome(t, [
    'file home/fixtures/static-text This is the content of the static text resource.',
    'file home/fixtures/template/123/data {"id":"123"}',
    'file home/fixtures/watched-resource watched',
  ]);
  writeFileSync(join(home.home, 'fixtures/static-binary'), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x00]));
  home.policy(POLICY);
  await home.serve();
  const url = await openHttpAdapter(t, home.socket, {
    'test://': `file://${home.home}/fixtures/`,
    // Called without its argument: an error that a model can act on.
    test_error_handling: 'check_path',
  });
  for (const scenario of SCENARIOS) {
    const args = [suite, 'server', '--url', url, '--scenario', scenario];
    const { status, out, err } = await outcomeOf(spawn(process.execPath, args, { cwd: home.base }));
    assert.equal(status, 0, `${scenario}: ${out}${err}`);
  }
});
