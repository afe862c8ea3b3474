// A host in a few lines. It starts a server, lets it have the roots that rootsd's policy allows it, and reads what it is told
// to on its standard input through that server: `node examples/host.mjs NAME COMMAND [ARG…]`
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { connectRoots } from 'rootsd/host';

const [server, command, ...args] = process.argv.slice(2);
if (command === undefined) {
  console.error('usage: node examples/host.mjs NAME COMMAND [ARG…]');
  process.exit(64);
}
const roots = await connectRoots({ server, host: 'example' });
const say = (now) => console.log(`${server} may use ${now.map(({ path }) => path).join(', ') || 'nothing'}`);
say(roots.roots);
roots.on('change', say);

const client = new Client({ name: 'example', version: '1' });
roots.install(client);
await client.connect(new StdioClientTransport({ command, args }));
for await (const path of createInterface({ input: process.stdin })) {
  const { content } = await client.callTool({ name: 'read', arguments: { path } });
  console.log(content[0].text);
}
await client.close();
roots.off('change', say);
roots.close();
