// docs/servers/: a page for each server of the catalogue, and the one that leads to them.

import { fileURLToPath } from 'node:url';
import type { KnownServer } from '../src/core/catalogue.ts';
import { shellQuoted } from '../src/core/display.ts';
import type { Channel, DescribedChannel, EnvValue, Meaning } from '../src/core/server-traits.ts';
import { readShippedCatalogue } from '../src/policy/read-catalogue.ts';
import { SCHEMAS } from '../src/policy/schema.ts';
import { keyTable, type Node } from './key-tables.ts';
import { bullets, fenced, listed, type Page, sections, table } from './pages.ts';

const CATALOGUE = new URL('../config/servers.yaml', import.meta.url);
const MADE = '<!-- Made from config/servers.yaml by `npm run docs`. -->';
/** `~` stays as it is written. */
const EXPANSIONS = { home: '/~', user: 'user', uid: 0, hostname: 'host' };

const CHANNELS = `- **roots**: the server asks, and hears of changes. Announced to every server, whatever else carries the boundary, unless the
  policy says \`roots: off\`.
- **argv**: \`{roots}\` in an argument behind \`run\` makes one argument of each root, \`{primary}\` stands for the first,
  \`{root:NAME}\` for that one. Nothing is added to a command line that has no placeholder. A root whose
  path holds a line break, or a \`,\`, \`:\` or \`;\` that separates parts of that very argument, does not travel; \`run\` says so.
- **env**: the variable is set, whatever the host gave it. A root whose path holds the separator or a line break does not travel;
  \`run\` says so.
- **config**: the list is written into the server's own file while it runs. Comments and other keys stay in JSON and YAML; TOML is
  written anew. Afterwards the file is what it was. Only what we have written is taken back: whatever somebody else (a person, or
  the server itself) has changed in it meanwhile stays, the list too, which \`run\` says, and a file that was removed is not made
  again. A note beside the file (\`.NAME.rootsd.json\`) puts it back at the next start where a session was killed. Sessions that
  run at once share the file: it holds what each of them may use.
- **cwd**: the server is started in the first root. Relative paths in its command line then start there.

Where one of the last four carries the boundary and it changes, the server is started again: calls under way may end (5 s), the
handshake and subscriptions are repeated, the host notices nothing.`;

/** All pages about servers. */
export function serverPages(): readonly Page[] {
  const servers = readShippedCatalogue(fileURLToPath(CATALOGUE), EXPANSIONS);
  return [
    { path: 'servers/README.md', text: indexPage(servers) },
    ...servers.map((server) => ({ path: `servers/${server.name}.md`, text: serverPage(server) })),
  ];
}

function serverPage(server: KnownServer): string {
  const { name, title, channels, example, warnings, unenforced, sources } = server;
  return sections([
    `# ${title}`,
    MADE,
    `Known by ${knownBy(server)}.`,
    '## By hand',
    `In the configuration of a host, in place of the server's own command ([hosts](../hosts/README.md)):`,
    fenced('sh', `rootsd run --server ${name} -- ${example.map(shellWord).join(' ')}`),
    '## What carries the boundary',
    ...channelTable(channels),
    ...listed('## Mind', warnings),
    '## What nothing holds it to',
    bullets(['It can open any file that its user can open: the list is told, not enforced', ...unenforced]),
    ...toolParts(server),
    ...listed(
      '## Known from',
      sources.map((source) => `<${source}>`),
    ),
  ]);
}

function indexPage(servers: readonly KnownServer[]): string {
  const definitions = SCHEMAS.servers.definitions as Readonly<Record<string, Node>>;
  const rows = servers.map(({ name, title, channels }) => [
    `[${title}](${name}.md)`,
    channels.length === 0 ? 'nothing' : channels.map(({ channel }) => nameOf(channel)).join(', else '),
    emptyText(channels),
  ]);
  return sections([
    '# Servers',
    MADE,
    `How a boundary reaches each server behind \`rootsd run\`, and what that server does with it: the catalogue that comes
with rootsd. A server that does not stand here is told its roots, gets its arguments where they hold placeholders, and an
empty directory where nothing is allowed.`,
    table(['server', 'what carries the boundary', 'where nothing is allowed'], rows),
    '## How each channel works',
    CHANNELS,
    '## Your own entries',
    `In \`/etc/rootsd/servers.yaml\` for a machine, in \`~/.config/rootsd/servers.yaml\` for yourself: beside \`policies.d\`,
trusted like a policy, as strict as one (\`rootsd check\` checks it too), and read as it is saved; with a
broken one a daemon does not start, and one that runs keeps what it said before (\`rootsd status\` says \`degraded\` and
why). One that is removed says nothing any more. A server is known by its command line. Of several entries that match, the system's counts, then yours, then
one of those above, each as a whole. What a policy says of a server (\`channels\`, \`paths\`, \`guard\`) counts before all of
them.`,
    '```yaml catalogue\nversion: 1\nservers:\n  my-files:\n    title: My files\n    match: { command: [my-files-server] }\n    channels:\n      - { kind: env, name: MY_DIRS, separator: ":", empty: everything }\n```',
    keyTable(definitions['known-server'] ?? {}),
    'A channel is a word, or a map of these:',
    keyTable(definitions.channel ?? {}),
  ]);
}

function knownBy({ match: { npm, pypi, command, image } }: KnownServer): string {
  const named: readonly [string, readonly string[]][] = [
    ['the npm package', npm],
    ['the Python package', pypi],
    ['the program', command],
    ['the container image', image],
  ];
  return named
    .filter(([, names]) => names.length > 0)
    .map(([what, names]) => `${what} ${names.map(code).join(' or ')}`)
    .join(', ');
}

function channelTable(channels: readonly DescribedChannel[]): readonly string[] {
  if (channels.length === 0) return ['Nothing: it cannot be told where it may go.'];
  const rows = channels.map(({ channel, empty, error }) => {
    const meanings = channel.kind === 'argv' ? ['', ''] : [MEANS[empty], MEANS[error]];
    return [nameOf(channel), howOf(channel), ...meanings];
  });
  return [
    table(['channel', 'how', 'an empty list means', 'one that it cannot use means'], rows),
    ...(channels.length > 1 ? ['The first that can is used; arguments always where they hold placeholders.'] : []),
  ];
}

const MEANS: Readonly<Record<Meaning, string>> = {
  keeps: 'what it had before',
  nothing: 'nothing',
  everything: '**the whole disk**',
};

function howOf(channel: Channel): string {
  switch (channel.kind) {
    case 'roots':
      return 'it asks for roots and hears when they change';
    case 'argv':
      return 'placeholders in its arguments are filled in; it is started again when they change';
    case 'env':
      return `${code(channel.name)} is ${valueText(channel.value)}; it is started again when that changes`;
    case 'config':
      return `${code(channel.key.join('.'))} in ${code(writtenPath(channel.path))} is the list while it runs, and what it was afterwards`;
    case 'cwd':
      return 'it is started in the first root, and again when that changes';
  }
}

function valueText(value: EnvValue): string {
  switch (value.form) {
    case 'list':
      return `the list with ${code(value.separator)} between`;
    case 'json':
      return 'the list as a JSON array';
    case 'template':
      return code(value.template);
  }
}

function nameOf(channel: Channel): string {
  return channel.kind === 'env' ? `env ${code(channel.name)}` : channel.kind;
}

/** What `rootsd run` gives it. */
function emptyText(channels: readonly DescribedChannel[]): string {
  const meanings = channels.filter(({ channel }) => channel.kind !== 'argv').map(({ empty }) => empty);
  if (meanings.includes('everything')) return 'stopped';
  return meanings.length === 0 || meanings.includes('keeps') ? 'an empty directory' : 'an empty list';
}

function toolParts({ tools, paths, relativePaths }: KnownServer): readonly string[] {
  const of = (kind: string) => Object.keys(tools).filter((tool) => tools[tool] === kind);
  const rows = [
    ['tools that only read', of('read').map(code).join(', ')],
    ['tools that write', of('write').map(code).join(', ')],
    ['arguments that hold paths', paths.map(code).join(', ')],
    ['relative paths', relativePaths === 'cwd' ? 'against its working directory' : ''],
  ].filter(([, value]) => value !== '');
  return rows.length === 0 ? [] : ['## Its tools', table(['what', 'which'], rows)];
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./{}-]+$/.test(word) && !/[{}]/.test(word) ? word : shellQuoted(word);
}

function code(text: string): string {
  return `\`${text}\``;
}

function writtenPath(path: string): string {
  return path.replace(/^\/~/, '~');
}
