// docs/errors.md: every code with what a user reads, from the table of codes and the exit statuses.

import { type Code, codes, type ErrorKind, hintOf, messageOf, type Params } from '../src/core/errors.ts';
import { exitStatusOf } from '../src/core/exit-status.ts';

interface Section {
  readonly title: string;
  readonly lead: string;
  readonly ends: boolean;
  readonly holds: (code: Code) => boolean;
}

/** Nothing ends: rootsd goes on, worse than before, and says so once. */
const WARNINGS: ReadonlySet<Code> = new Set([
  'STATE_UNWRITABLE',
  'WATCH_LIMIT',
  'ROOT_MEMBER_NAME',
  'PATTERN_TOO_WIDE',
]);

/** Of the codes about policies, those that an edit of one ends with. */
const EDITS: ReadonlySet<Code> = new Set(['POLICY_BROKEN', 'POLICY_CHANGED', 'POLICY_BUSY']);

/** Is this something wrong in a file, of which there may be many at once? */
export function isProblem(code: Code): boolean {
  return /^(?:FILE_TOO_LARGE|TOO_MANY_PROBLEMS|YAML_|SCHEMA_|TRUST_|POLICY_)/.test(code) && !EDITS.has(code);
}

const SECTIONS: readonly Section[] = [
  {
    title: 'Errors that end a command',
    lead: 'Printed on standard error as `rootsd: TEXT [CODE]`, with what to try below.',
    ends: true,
    holds: (code) => !isProblem(code) && !WARNINGS.has(code) && !isOfPeer(code) && !isOfLibrary(code),
  },
  {
    title: 'Errors that a peer is told',
    lead: `In \`error.data.code\` of the answer ([protocol.md](protocol.md)); no other session is touched. The exit status is that
of a command or of \`rootsd run\` that is refused so.`,
    ends: true,
    holds: isOfPeer,
  },
  {
    title: 'Errors that a library throws',
    lead: 'By `rootsd/server`, with a text that a model can act on ([lib-server.md](lib-server.md)).',
    ends: false,
    holds: isOfLibrary,
  },
  {
    title: 'Warnings of the running daemon',
    lead: 'In the log, once each; the daemon goes on.',
    ends: false,
    holds: (code) => WARNINGS.has(code),
  },
  ...(
    [
      ['Problems in files: the text', /^(?:FILE|TOO_MANY|YAML)_/],
      ['Problems in files: the grammar', /^SCHEMA_/],
      ['Problems in files: what a policy says', /^POLICY_/],
      ['Problems in files: who may write them', /^TRUST_/],
    ] as const
  ).map(([title, names]): Section => {
    return { title, lead: '', ends: false, holds: (code) => isProblem(code) && names.test(code) };
  }),
];

function isOfPeer(code: Code): boolean {
  return code.startsWith('PEER_') || code === 'NOT_PERMITTED';
}

function isOfLibrary(code: Code): boolean {
  return code.startsWith('PATH_') || code === 'LIST_UNKNOWN';
}

const ACTS: Readonly<Record<ErrorKind, string>> = {
  usage: 'caller',
  file: 'operator',
  place: 'operator',
  peer: 'peer',
  temporary: 'nobody: try again',
  bug: 'us',
};

/** Values that say more than the name of the parameter: of codes that stand for many sentences, one of them. */
const PARAMS: Readonly<Partial<Record<Code, Params>>> = {
  STDIO_FAILED: { hint: 'Leave out `--stdio pipe` where `mkfifo` is missing; give it a `$TMPDIR` it can write in' },
  USAGE: { what: 'what was refused and why, as: Cannot check "work.yaml": it is not there' },
  NOT_PERMITTED: { what: 'what the daemon answered' },
  SCHEMA_UNKNOWN_KEY: { where: ' in {place}', hint: 'Did you mean "{nearest}"? or all keys that can stand there' },
  POLICY_UNKNOWN_ROOT: { hint: 'Did you mean "{nearest}"? or all names that are declared' },
  POLICY_UNKNOWN_RULE: { hint: 'Did you mean "{nearest}"? or all names that are declared' },
};

const HEAD = `# Error codes

<!-- Made from src/core/errors.ts by \`npm run docs\`. -->

Every code that rootsd prints, with its text. \`{name}\` in a text stands for a value. A denial is not an error: it is a
decision, and \`rootsd explain\` gives its reason.

*Problems in files* are listed all at once, each as \`FILE:LINE:COL: error: TEXT [CODE]\`; whoever wrote the file acts. With
one of them \`check\` and \`reload\` end with 1, and with 78 where it stands in rootsd.yaml; a running daemon keeps the last
good state of that layer. A few are warnings (\`warning:\`), which change nothing else.
`;

/** The whole page. */
export function errorsPage(): string {
  const all = Object.keys(codes()) as Code[];
  return [HEAD, ...SECTIONS.map((section) => sectionText(section, all.filter(section.holds)))].join('\n');
}

function sectionText({ title, lead, ends }: Section, ofSection: readonly Code[]): string {
  const columns = ['code', 'text', 'what to try', ...(ends ? ['who acts', 'exit status'] : [])];
  const rows = ofSection.map((code) => {
    const { kind } = codes()[code];
    const said = [messageOf(code, PARAMS[code]), hintOf(code, PARAMS[code]) ?? ''];
    return tableRow([`\`${code}\``, ...said, ...(ends ? [ACTS[kind], String(exitStatusOf(code))] : [])]);
  });
  const table = [tableRow(columns), tableRow(columns.map(() => '---')), ...rows].join('\n');
  return [`## ${title}`, ...(lead === '' ? [] : [lead]), table, ''].join('\n\n').trimEnd().concat('\n');
}

/** What Markdown would take for something else is escaped. */
function tableRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replace(/[|<*]/g, '\\$&')).join(' | ')} |`;
}
