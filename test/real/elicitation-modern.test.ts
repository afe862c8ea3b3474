// A person is asked in their host by a client of the SDK 2.x that speaks revision 2026-07-28, for calls of a server of that SDK.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { list, PATIENT, served } from '../support/asking-home.ts';
import { type Asked, askedBy, type Said } from '../support/eliciting-hosts.ts';
import { ROOTSD, type TestHome } from '../support/serve.ts';

const ASKING = fileURLToPath(new URL('../support/both-eras-server.mjs', import.meta.url));
const POLICY = `roots: { a: { path: ~/a }, b: { path: ~/b } }
rules:
  - { id: files, allow: [a], servers: [asking], access: read-write }
  - { id: other, ask: [b], servers: [asking], access: read-write, scopes: [session, 8h] }`;

interface Host {
  readonly home: TestHome;
  readonly call: (name: string, path: string) => Promise<string>;
  /** What the person was asked by us, and by the server. */
  readonly asked: readonly (Asked | string)[];
}

/** `say`: what the person says to a question of ours; without it the host shows no forms. */
async function connect(t: TestContext, say?: () => Said): Promise<Host> {
  const { home } = await served(t, POLICY, PATIENT);
  const asked: (Asked | string)[] = [];
  const capabilities = say === undefined ? {} : { elicitation: { form: {} } };
  const client = new Client(
    { name: 'host', version: '1' },
    { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  if (say !== undefined) {
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      if (!params.message.startsWith('rootsd: ')) {
        asked.push(params.message);
        return { action: 'accept', content: { name: 'Ana' } };
      }
      asked.push(askedBy(params));
      return say() as never;
    });
  }
  const args = [ROOTSD, 'run', '--server', 'asking', '--', process.execPath, ASKING];
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env: { ...home.env }, stderr: 'ignore' }),
  );
  t.after(() => client.close());
  assert.equal(client.getNegotiatedProtocolVersion(), '2026-07-28');
  const call = async (name: string, path: string): Promise<string> => {
    const { content } = (await client.callTool({ name, arguments: { text: 'x', path: join(home.home, path) } })) as {
      readonly content: readonly { readonly text: string }[];
    };
    return content[0]?.text ?? '';
  };
  return { home, call, asked };
}

const yes = (): Said => ({ action: 'accept', content: { answer: '8h' } });

describe('a host of SDK 2.x in revision 2026-07-28 that shows forms', () => {
  it('is asked within the result of a call; the call goes on with a yes, and nobody is asked for the next', async (t) => {
    const { home, call, asked } = await connect(t, yes);
    assert.deepEqual(JSON.parse(await call('echo', 'b/f')), { text: 'x' });
    assert.deepEqual(JSON.parse(await call('echo', 'b/g')), { text: 'x' });
    const [question, ...none] = asked;
    assert.deepEqual([(question as Asked).scopes, none], [['session', '8h'], []]);
    const [{ event, channel, scope } = assert.fail()] = (await list(home)).history;
    assert.deepEqual([event, channel, scope], ['approved', 'host', '8h']);
  });

  it('is asked by us, and then by the server, for one call; the server has the list by then', async (t) => {
    const { home, call, asked } = await connect(t, yes);
    const { uris, name } = JSON.parse(await call('who', 'b/f')) as { readonly uris: string[]; readonly name: string };
    assert.deepEqual([uris, name], [['a', 'b'].map((root) => `file://${join(home.home, root)}`), 'Ana']);
    assert.equal(asked.length, 2);
    assert.equal(asked[1], 'Who?');
  });

  const NO: readonly (readonly [Said, RegExp])[] = [
    [{ action: 'accept', content: { answer: 'deny' } }, /a person has refused it/],
    [{ action: 'decline' }, /a person has refused it/],
    [{ action: 'cancel' }, /nobody can be asked now/],
  ];
  for (const [said, why] of NO) {
    it(`gets a refusal that says why for ${JSON.stringify(said)}`, async (t) => {
      const { call, asked } = await connect(t, () => said);
      assert.match(await call('echo', 'b/f'), why);
      assert.equal(asked.length, 1);
      assert.deepEqual(JSON.parse(await call('echo', 'a/f')), { text: 'x' });
    });
  }
});

describe('a host of SDK 2.x in revision 2026-07-28 that shows no forms', () => {
  it('gets a refusal at once, and the command line answers', async (t) => {
    const { home, call } = await connect(t);
    assert.match(await call('echo', 'b/f'), /nobody can be asked now/);
    const { pending } = await list(home);
    await home.json('consent', 'approve', pending[0]?.id ?? '');
    assert.deepEqual(JSON.parse(await call('echo', 'b/f')), { text: 'x' });
  });
});
