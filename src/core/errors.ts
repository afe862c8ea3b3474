// Every code that a user can meet, with its text. docs/errors.md is generated from this table (test/core/errors.test.ts).
//
// Wording: what was being done, a colon, how things are, and how they must be; values in double quotes; no full stop,
// no line break. What to try goes into the hint.

export type ErrorKind = 'usage' | 'file' | 'place' | 'peer' | 'temporary' | 'bug';
export type Severity = 'error' | 'warning';

interface CodeEntry {
  readonly kind: ErrorKind;
  readonly text: string;
  readonly hint?: string;
}

/** `{name}` in a text is replaced by the parameter of that name. */
export const CODES = {
  USAGE: { kind: 'usage', text: '{what}' },
  CONFIG_INVALID: { kind: 'file', text: 'Cannot read configuration "{file}": {what}' },
  CONFIG_UNREADABLE: { kind: 'file', text: 'Cannot read configuration "{file}": {what}' },
  POLICY_UNREADABLE: { kind: 'file', text: 'Cannot read policy "{file}": {what}' },
  POLICY_LAYER_GONE: {
    kind: 'file',
    text: 'Cannot read the policies in "{directory}": they were in force and are gone, the last good ones stay in force',
    hint: 'Bring the directory back, or say "rootsd reload --accept-empty" if it is meant to be gone',
  },
  POLICY_TEST_FAILED: {
    kind: 'file',
    text: 'Cannot activate the policy: a test expects {expected}, the answer is {actual}, because {why}',
    hint: 'Change the rules or the test; until then the last good policy of this layer stays in force',
  },
  DAEMON_UNREACHABLE: {
    kind: 'temporary',
    text: 'Cannot reach the daemon: {what}',
    hint: 'Start it with "rootsd serve"',
  },
  DAEMON_RUNNING: {
    kind: 'temporary',
    text: 'Cannot start: {owner} already serves "{directory}"',
    hint: 'Use that one, or end it with "kill PID" first',
  },
  SOCKET_IN_USE: { kind: 'temporary', text: 'Cannot listen on "{path}": a process already answers there' },
  SOCKET_PATH_TOO_LONG: {
    kind: 'file',
    text: 'Cannot listen on "{path}": the path has {length} bytes, the limit is {limit}',
    hint: 'Give a shorter path with --socket',
  },
  SOCKET_UNSAFE: { kind: 'file', text: 'Cannot listen on "{path}": {what}' },
  SOCKET_FAILED: { kind: 'file', text: 'Cannot listen on "{path}": {what}' },
  PEER_OTHER_USER: { kind: 'peer', text: 'Cannot serve uid {uid}: this daemon serves uid {own} alone' },
  PEER_FIRST_MESSAGE: {
    kind: 'peer',
    text: 'Cannot open a session with {what}: the first message must be a request "rootsd/attach" or that of an MCP client',
  },
  PEER_MALFORMED: { kind: 'peer', text: 'Cannot read the message: {what}' },
  PEER_MESSAGE_TOO_LARGE: { kind: 'peer', text: 'Cannot read the message: it has more than {limit} bytes' },
  PEER_SESSIONS_FULL: { kind: 'temporary', text: 'Cannot open a session: {limit} are open, which is the limit' },
  DIRECTORY_UNSAFE: { kind: 'place', text: 'Cannot use directory "{path}": {what}' },
  NOT_PERMITTED: { kind: 'peer', text: '{what}' },
  BUG: { kind: 'bug', text: 'Internal error' },
} as const satisfies Record<string, CodeEntry>;

export type Code = keyof typeof CODES;
export type Params = Readonly<Record<string, string | number>>;

/** The text of a code with its parameters put in. */
export function messageOf(code: Code, params: Params = {}): string {
  return CODES[code].text.replace(/\{(\w+)\}/g, (_, name: string) => String(params[name] ?? `{${name}}`));
}

/** The hint of a code with its parameters put in, or undefined where it has none. */
export function hintOf(code: Code, params: Params = {}): string | undefined {
  const entry: CodeEntry = CODES[code];
  return entry.hint?.replace(/\{(\w+)\}/g, (_, name: string) => String(params[name] ?? `{${name}}`));
}

/** A range in a file: 1-based lines and columns (UTF-16 units), the end is exclusive. */
export interface Position {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** Something wrong in a file that an operator writes; `check` prints these, all of all files at once. */
export interface Problem extends Position {
  readonly code: Code;
  readonly severity: Severity;
  readonly message: string;
  readonly hint?: string;
}

export interface ErrorDetails {
  readonly hint?: string;
  readonly at?: Position;
  readonly cause?: unknown;
}

/** The one error class. Anything else that is thrown is a bug. A denial is not an error: it is a Decision. */
export class RootsError extends Error {
  override readonly name = 'RootsError';
  readonly code: Code;
  readonly hint: string | undefined;
  readonly at: Position | undefined;

  constructor(code: Code, params: Params = {}, details: ErrorDetails = {}) {
    super(messageOf(code, params), details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.hint = details.hint ?? hintOf(code, params);
    this.at = details.at;
  }

  get kind(): ErrorKind {
    return CODES[this.code].kind;
  }
}

/** Makes a Problem from a code, its parameters and a position. */
export function problem(code: Code, at: Position, params: Params = {}, severity: Severity = 'error'): Problem {
  const hint = hintOf(code, params);
  const { file, line, column, endLine, endColumn } = at;
  const base = { code, severity, file, line, column, endLine, endColumn, message: messageOf(code, params) };
  return hint === undefined ? base : { ...base, hint };
}
