// docs/hosts/: a page for each host, and the one that leads to them.

import { type Certainty, type Fact, HOSTS, type Host, type Shape } from './hosts.ts';
import { bullets, fenced, listed, type Page, sections, table } from './pages.ts';

const MADE = '<!-- Made from scripts/hosts.ts by `npm run docs`. -->';
const ROOTSD = '/usr/local/bin/rootsd';

/** All pages about hosts. */
export function hostPages(): readonly Page[] {
  return [
    { path: 'hosts/README.md', text: indexPage() },
    ...HOSTS.map((host) => ({ path: `hosts/${host.name}.md`, text: hostPage(host) })),
  ];
}

function hostPage(host: Host): string {
  const { title, shape, files, roots, forms, revision, environment, directory, pitfalls } = host;
  return sections([
    `# ${title}`,
    MADE,
    '## By hand',
    bullets(files.map(told)),
    'In place of the command of a server, which stands behind `--`:',
    EXAMPLES[shape](host),
    '`rootsd` by its absolute path: a host may have another `PATH` than your shell. It is there after `sudo ln -s "$PWD/bin/rootsd" /usr/local/bin/rootsd` in a clone that is built; else write that of the clone. `--server` is the name that your policy uses.',
    '## What it sends and gives',
    table(
      ['what', 'as far as it is known'],
      [
        ['roots', told(roots)],
        ['shows questions of `ask` rules', told(forms)],
        ['revision', told(revision)],
        ['environment of a server', told(environment)],
        ['working directory of a server', told(directory)],
      ],
    ),
    ...listed('## Mind', pitfalls.map(told)),
  ]);
}

function indexPage(): string {
  return sections([
    '# Hosts',
    MADE,
    `What to write into the configuration of a host so that its servers get the boundary of your policy, and what each host sends.
Whether it sends roots decides nothing here: they narrow what the policy allows, and a host without any gets all of it. The
daemon is found without any variable, and the working directory is never taken for a root. A host that shows a person the forms of a
server (*elicitation*) shows what an \`ask\` rule asks too ([consent](../consent.md)); behind the others there are other ways.`,
    table(
      ['host', 'roots', 'shows questions', 'working directory of a server'],
      HOSTS.map(({ name, title, roots, forms, directory }) => [
        `[${title}](${name}.md)`,
        told(roots),
        told(forms),
        told(directory),
      ]),
    ),
    'What stands behind `--` for a server: [servers](../servers/README.md).',
  ]);
}

const MARKS: Readonly<Record<Certainty, string>> = {
  source: '',
  documentation: '',
  issue: ' *(from an issue)*',
  report: ' *(reported, not checked)*',
  unchecked: ' *(not checked)*',
};

function told({ text, by }: Fact): string {
  return `${text}${MARKS[by]}`;
}

const args = (host: Host): readonly string[] => [
  'run',
  '--server',
  'filesystem',
  '--host',
  host.name,
  '--',
  'npx',
  '-y',
  '@modelcontextprotocol/server-filesystem',
];

const inJson = (key: string, entry: (host: Host) => object) => (host: Host) =>
  fenced('json', JSON.stringify({ [key]: { filesystem: entry(host) } }, null, 2));
const commandAndArgs = (host: Host): object => ({ command: ROOTSD, args: args(host) });
const quoted = (words: readonly string[]): string => words.map((word) => JSON.stringify(word)).join(', ');

const EXAMPLES: Readonly<Record<Shape, (host: Host) => string>> = {
  mcpServers: inJson('mcpServers', commandAndArgs),
  servers: inJson('servers', (host) => ({ type: 'stdio', ...commandAndArgs(host) })),
  context_servers: inJson('context_servers', (host) => ({ source: 'custom', ...commandAndArgs(host) })),
  crush: inJson('mcp', (host) => ({ type: 'stdio', ...commandAndArgs(host) })),
  opencode: inJson('mcp', (host) => ({ type: 'local', command: [ROOTSD, ...args(host)] })),
  goose: (host) =>
    fenced(
      'yaml',
      `extensions:\n  filesystem:\n    type: stdio\n    enabled: true\n    cmd: ${ROOTSD}\n    args: [${quoted(args(host))}]`,
    ),
  continue: (host) =>
    fenced('yaml', `mcpServers:\n  - name: filesystem\n    command: ${ROOTSD}\n    args: [${quoted(args(host))}]`),
  codex: (host) => fenced('toml', `[mcp_servers.filesystem]\ncommand = "${ROOTSD}"\nargs = [${quoted(args(host))}]`),
};
