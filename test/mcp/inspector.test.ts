// The command line of the MCP Inspector against `rootsd mcp`. Its later releases want a newer Node than we do.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { outcomeOf, ROOTSD, TestHome } from '../support/serve.ts';

const INSPECTOR = createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector-cli/build/cli.js');

test('the Inspector lists and reads roots, gets prompts and calls tools through rootsd mcp', async (t) => {
  const home = new TestHome(t, ['file home/app/a.ts hello']);
  home.policy(`roots: { app: { path: ~/app } }
rules: [{ id: a, allow: [app] }]
prompts: { review: { template: "Review {language}", arguments: { language: { values: [python] } } } }
`);
  await home.serve();
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at what came, whatever it is.
  const inspect = async (...args: readonly string[]): Promise<any> => {
    const command = [INSPECTOR, '--cli', process.execPath, ROOTSD, 'mcp', ...args];
    const { status, out, err } = await outcomeOf(spawn(process.execPath, command, { env: home.env, cwd: home.base }));
    assert.equal(status, 0, err);
    return JSON.parse(out);
  };
  const uri = `file://${home.home}/app`;
  const { resources } = await inspect('--method', 'resources/list');
  assert.deepEqual(
    resources.map((resource: { uri: string }) => resource.uri),
    [uri],
  );
  const { contents } = await inspect('--method', 'resources/read', '--uri', `${uri}/a.ts`);
  assert.equal(contents[0].text, 'hello');
  const { prompts } = await inspect('--method', 'prompts/list');
  assert.equal(prompts[0].name, 'review');
  const prompt = ['--prompt-name', 'review', '--prompt-args', 'language=python'];
  const { messages } = await inspect('--method', 'prompts/get', ...prompt);
  assert.equal(messages[0].content.text, 'Review python');
  const { resourceTemplates } = await inspect('--method', 'resources/templates/list');
  assert.equal(resourceTemplates[0].uriTemplate, 'file:///{+path}');
  const call = async (name: string, ...args: readonly string[]) => {
    const given = args.flatMap((arg) => ['--tool-arg', arg]);
    return (await inspect('--method', 'tools/call', '--tool-name', name, ...given)).structuredContent;
  };
  const { tools } = await inspect('--method', 'tools/list');
  assert.equal(tools.length, 3);
  assert.equal((await call('list_roots')).roots[0].uri, uri);
  assert.equal((await call('check_path', `path=${home.home}/app`)).verdict, 'inside');
  assert.equal((await call('request_access', `path=${home.home}/other`, 'access=read-write')).state, 'denied');
});
