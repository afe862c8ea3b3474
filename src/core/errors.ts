// Every code that a user can meet, with its text. docs/errors.md is made from this table (`npm run docs`).
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
export const codes = madeOnce(() => ({
  USAGE: { kind: 'usage', text: '{what}' },
  CONFIG_INVALID: { kind: 'file', text: 'Cannot read configuration "{file}": {what}' },
  CONFIG_UNREADABLE: { kind: 'file', text: 'Cannot read configuration "{file}": {what}' },
  CATALOGUE_INVALID: { kind: 'file', text: 'Cannot read catalogue "{file}": {what}' },
  CATALOGUE_UNREADABLE: { kind: 'file', text: 'Cannot read catalogue "{file}": {what}' },
  POLICY_UNREADABLE: { kind: 'file', text: 'Cannot read policy "{file}": {what}' },
  POLICY_NOT_PROVEN: {
    kind: 'file',
    text: 'Cannot take up the policies in "{directory}": {what}',
    hint: 'Make the files of this layer smaller, then say "rootsd reload"',
  },
  POLICY_BROKEN: {
    kind: 'file',
    text: 'Cannot edit the policies: they already have a problem: {problem}',
    hint: 'Mend it first: "rootsd check" shows it in its place',
  },
  POLICY_CHANGED: {
    kind: 'temporary',
    text: 'Cannot write "{file}": it has changed since it was read',
    hint: 'Try again',
  },
  POLICY_BUSY: {
    kind: 'temporary',
    text: 'Cannot edit the policies: another "rootsd allow" or "rootsd revoke" has been at it for 30 s',
    hint: 'Try again when it is done',
  },
  POLICY_LAYER_TOO_LARGE: {
    kind: 'file',
    text: 'Cannot read the policies in "{directory}": its files have more than {limit} bytes together',
    hint: 'Move away what is no policy, or say more with fewer files',
  },
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
    hint: 'Use that one, or end it first: {how}',
  },
  SOCKET_IN_USE: { kind: 'temporary', text: 'Cannot listen on "{path}": a process already answers there' },
  SOCKET_PATH_TOO_LONG: {
    kind: 'file',
    text: 'Cannot listen on "{path}": the path has {length} bytes, the limit is {limit}',
    hint: 'Give a shorter path with --socket',
  },
  SOCKET_UNSAFE: { kind: 'file', text: 'Cannot listen on "{path}": {what}' },
  SOCKET_FAILED: { kind: 'file', text: 'Cannot listen on "{path}": the system says {what}' },
  PEER_OTHER_USER: { kind: 'peer', text: 'Cannot serve uid {uid}: this daemon serves uid {own} alone' },
  PEER_FIRST_MESSAGE: {
    kind: 'peer',
    text: 'Cannot open a session with {what}: the first message must be a request "rootsd/attach" or that of an MCP client',
  },
  PEER_MALFORMED: { kind: 'peer', text: 'Cannot read the message: {what}' },
  PEER_MESSAGE_TOO_LARGE: { kind: 'peer', text: 'Cannot read the message: it has more than {limit} bytes' },
  PEER_AMBIGUOUS: {
    kind: 'peer',
    text: 'Cannot tell which server this is: the command fits {servers}',
    hint: 'Say which one with --server NAME',
  },
  PEER_NOTHING_ALLOWED: {
    kind: 'peer',
    text: 'Cannot run this server: nothing is allowed to it, and an empty list means the whole disk to it',
    hint: '"rootsd allow PATH --server NAME" allows a directory',
  },
  PEER_STALLED: { kind: 'peer', text: 'Cannot write to the peer: it does not read' },
  PEER_HOLDS_MOST: {
    kind: 'peer',
    text: 'Cannot keep what waits for this peer: all peers together hold more than {limit} bytes, and this one the most',
    hint: 'End each message with a line break, and read the answers',
  },
  CONTROL_FULL: {
    kind: 'temporary',
    text: 'Cannot take a request of administration: {limit} wait for their answers, which is the limit',
  },
  PEER_SESSIONS_FULL: { kind: 'temporary', text: 'Cannot open a session: {limit} are open, which is the limit' },
  TOMBSTONE_FAILED: {
    kind: 'place',
    text: 'Cannot make an empty directory to tell in place of no roots: {what}',
    hint: "Make one of these writable for this user: the directory of the daemon's socket, /run/user/UID, $TMPDIR",
  },
  SETTINGS_FAILED: {
    kind: 'place',
    text: 'Cannot put the list of directories into "{path}": {what}',
    hint: 'The server is told by this file alone: mend it, or give the server other channels in the policy',
  },
  STDIO_FAILED: { kind: 'place', text: 'Cannot connect the server by a {kind}: {what}', hint: '{hint}' },
  DIRECTORY_UNSAFE: { kind: 'place', text: 'Cannot use directory "{path}": {what}' },
  CONSENT_UNKNOWN: {
    kind: 'usage',
    text: 'Cannot find {what}: it is answered, withdrawn or over, or there never was one',
    hint: '"rootsd consent list" shows what there is',
  },
  CONSENT_ANSWER: { kind: 'usage', text: 'Cannot take this answer: {what}' },
  CONSENT_ADMIN_ONLY: {
    kind: 'peer',
    text: 'Cannot take this answer: rule "{rule}" wants an administrator to answer',
  },
  CONSENT_NEEDS_TERMINAL: {
    kind: 'peer',
    text: 'Cannot take this answer from here: {what}',
    hint: 'Answer in a terminal that no MCP server has started',
  },
  CONSENT_CODE: {
    kind: 'peer',
    text: 'Cannot take this answer from here: {what}',
    hint: 'A code is shown on the terminal: give it where "rootsd consent" asks for it',
  },
  CONSENT_CHANNEL_OFF: {
    kind: 'peer',
    text: 'Cannot ask a person this way: "{channel}" is not among "consent.channels" in rootsd.yaml',
  },
  CONSENT_ASKPASS: { kind: 'file', text: 'Cannot ask by "{path}": {what}' },
  CONSENT_NOT_KEPT: {
    kind: 'temporary',
    text: 'Cannot give this consent: it could not be written down',
    hint: 'See the log of the daemon; check that the disk has room',
  },
  CONSENT_REVOKED_NOT_KEPT: {
    kind: 'temporary',
    text: 'Cannot write down what is revoked: it holds no more now, but a daemon that starts before it is written may find it still',
    hint: 'See the log of the daemon, and check that the disk has room: it is tried again until it can be written',
  },
  STATE_REFUSED: { kind: 'file', text: 'Cannot use state file "{path}": {what}' },
  STATE_UNWRITABLE: {
    kind: 'file',
    text: 'Cannot write state file "{path}": what it should hold is not there after the next start',
    hint: 'See the cause; check that the disk has room',
  },
  WATCH_LIMIT: {
    kind: 'place',
    text: 'Cannot watch "{path}": the limit {limit} is {value} and used up, changes are found by looking now and then',
    hint: 'Raise it with "sysctl {limit}=NUMBER"',
  },
  ROOT_MEMBER_NAME: {
    kind: 'place',
    text: 'Cannot make a root of "{name}" in "{directory}": its name holds a control or bidirectional character',
    hint: 'Rename it',
  },
  PATTERN_TOO_WIDE: {
    kind: 'place',
    text: 'Cannot look through all that "{path}" matches: there are more than {limit} entries, links among the rest are not followed',
    hint: 'Name the directories one by one, or a narrower pattern',
  },
  SYSTEM_REFUSED: {
    kind: 'file',
    text: 'Cannot go on: the system refuses "{what}" of "{path}" ({errno})',
    hint: 'See who owns it, its mode and that of the directories above it',
  },
  SYSTEM_BUSY: {
    kind: 'temporary',
    text: 'Cannot go on: the system has no room or descriptor left for "{what}" of "{path}" ({errno})',
    hint: 'Make room and try again',
  },
  NOT_PERMITTED: { kind: 'peer', text: '{what}' },
  // What the libraries throw (docs/lib-server.md); a model reads the text
  PATH_INVALID: { kind: 'place', text: 'Cannot use "{path}": it {what}. {allowed}' },
  PATH_OUTSIDE: {
    kind: 'place',
    text: 'Cannot use "{path}": it lies or leads outside of what may be used, or nowhere. {allowed}',
  },
  PATH_READ_ONLY: { kind: 'place', text: 'Cannot write to "{path}": it may only be read. {allowed}' },
  PATH_CHANGED: {
    kind: 'temporary',
    text: 'Cannot open "{path}": the way to it changes while it is opened',
    hint: 'Try again',
  },
  LIST_UNKNOWN: { kind: 'temporary', text: 'Cannot tell which directories may be used: {what}', hint: 'Try again' },
  // Text and YAML of any file that an operator writes
  FILE_TOO_LARGE: { kind: 'file', text: 'File has {size} bytes: at most {limit} are read', hint: 'Split it' },
  TOO_MANY_PROBLEMS: { kind: 'file', text: 'File has more than {limit} problems: the rest is not listed' },
  YAML_ENCODING: { kind: 'file', text: 'Byte {byte} is not UTF-8', hint: 'Save the file as UTF-8' },
  YAML_BYTE_ORDER_MARK: {
    kind: 'file',
    text: 'Invisible character {character} (byte-order mark) stands here: only one at the very start is skipped',
    hint: 'Delete it',
  },
  YAML_INVISIBLE: { kind: 'file', text: 'Invisible control character {character} stands here', hint: 'Delete it' },
  YAML_EMPTY: {
    kind: 'file',
    text: 'File holds nothing but blanks and comments: it must begin with its version',
    hint: 'Write "version: 1"',
  },
  YAML_SYNTAX: { kind: 'file', text: 'Not YAML: {what}' },
  YAML_UNEXPECTED: {
    kind: 'file',
    text: 'Not YAML: {what}',
    hint: 'Close what is open before it; quote a text that holds one of { } [ ] , : #',
  },
  YAML_INDENT: {
    kind: 'file',
    text: 'Wrong indentation: {what}',
    hint: 'Lines of one list or map begin in the same column; every bracket that opens is closed',
  },
  YAML_UNQUOTED_START: { kind: 'file', text: 'Text starts with a special character: {what}', hint: 'Quote the text' },
  YAML_UNQUOTED_COLON: {
    kind: 'file',
    text: 'A second ": " stands in one line: {what}',
    hint: 'Quote the text that holds it',
  },
  YAML_QUOTE: { kind: 'file', text: 'Quote {quote} opens here and is never closed', hint: 'Close it' },
  YAML_TAB: { kind: 'file', text: 'Indentation holds a tab: it must be made of spaces', hint: 'Replace the tab' },
  YAML_DEPTH: { kind: 'file', text: 'Lists and maps nest deeper than {limit}' },
  YAML_SECOND_DOCUMENT: {
    kind: 'file',
    text: 'A second document begins here: a file holds exactly one',
    hint: 'Move it to a file of its own',
  },
  YAML_DIRECTIVE: { kind: 'file', text: 'Directive "{text}" is not supported', hint: 'Delete the line' },
  YAML_ANCHOR: {
    kind: 'file',
    text: 'Anchor "{text}" is not supported',
    hint: 'Write the value out where it is needed; quote it if the text itself is meant',
  },
  YAML_ALIAS: { kind: 'file', text: 'Alias "{text}" is not supported', hint: 'Write the value out' },
  YAML_STAR: { kind: 'file', text: 'An unquoted * begins an alias', hint: 'Quote it: "{text}"' },
  YAML_MERGE_KEY: {
    kind: 'file',
    text: 'Merge key "<<" is not supported',
    hint: 'Write the keys themselves: {keys}',
  },
  YAML_TAG: {
    kind: 'file',
    text: 'Tag "{text}" is not known',
    hint: 'Delete it; quote it if the text itself is meant',
  },
  YAML_DUPLICATE_KEY: {
    kind: 'file',
    text: 'Key "{key}" stands twice: in line {first} and again in line {second}',
    hint: 'Keep one of them',
  },
  YAML_KEY: { kind: 'file', text: 'Key {key} is not text', hint: 'Quote it: "{key}"' },
  YAML_KEY_KIND: { kind: 'file', text: 'Key is empty, a list or a map: it must be text' },
  YAML_FORBIDDEN_KEY: { kind: 'file', text: 'Key "{key}" is refused everywhere', hint: 'Choose another name' },
  YAML_NULL: { kind: 'file', text: 'Unquoted {text} means null', hint: 'Quote it: "{text}"' },
  YAML_EMPTY_VALUE: { kind: 'file', text: 'Value is missing', hint: 'Write one, quote it ("") or delete the key' },
  YAML_LEADING_ZERO: { kind: 'file', text: 'Number {text} begins with a zero', hint: 'Quote it: "{text}"' },
  YAML_FRACTION: { kind: 'file', text: 'Number {text} is not a plain whole number', hint: 'Quote it: "{text}"' },
  YAML_NUMBER_SIZE: { kind: 'file', text: 'Number {text} is too large to be exact', hint: 'Quote it: "{text}"' },

  // The grammar of a policy, of rootsd.yaml and of .rootsd.yaml
  SCHEMA_UNKNOWN_KEY: { kind: 'file', text: 'Key "{key}" is not known{where}', hint: '{hint}' },
  SCHEMA_MISSING_KEY: { kind: 'file', text: '{subject} has no "{key}"', hint: 'Add "{key}: …"' },
  SCHEMA_TYPE: { kind: 'file', text: '{subject} is {actual}: it must be {expected}' },
  SCHEMA_LIST: { kind: 'file', text: '{subject} is {actual}: it must be a list', hint: 'Write [{value}]' },
  SCHEMA_BOOLEAN: {
    kind: 'file',
    text: '{subject} is {actual}: it must be true or false',
    hint: 'Write it without quotes',
  },
  SCHEMA_QUOTES: { kind: 'file', text: '{subject} is {actual}: it must be text', hint: 'Quote it: "{value}"' },
  SCHEMA_VALUE: { kind: 'file', text: '{subject} is {value}: it must be {expected}' },
  SCHEMA_PATTERN: { kind: 'file', text: '{subject} is "{value}": it must be {expected}' },
  SCHEMA_TOO_MANY: { kind: 'file', text: '{subject} has too many items: it must have at most {limit}' },
  SCHEMA_EMPTY: { kind: 'file', text: '{subject} is empty', hint: 'Fill it or delete it' },
  SCHEMA_ONE_OF: { kind: 'file', text: '{subject} has {found}: it must have exactly one of {keys}' },
  SCHEMA_MISPLACED_KEY: { kind: 'file', text: 'Key "{key}" is out of place: {why}', hint: 'Delete it' },
  SCHEMA_HIDDEN_CHARACTER: {
    kind: 'file',
    text: '{subject} holds the invisible character {character}',
    hint: 'Delete the character',
  },

  // What a policy says
  POLICY_FILE_NAME: {
    kind: 'file',
    text: 'File is not read because of its name: letters, digits, "_" and "-" and then ".yaml" make a policy file',
    hint: 'Rename it, or add ".bak" to keep it out',
  },
  POLICY_DUPLICATE_NAME: {
    kind: 'file',
    text: 'Name "{name}" is taken: {what} "{name}" is declared in {place}',
    hint: '{hint}',
  },
  POLICY_UNKNOWN_ROOT: {
    kind: 'file',
    text: 'Root "{name}" is declared neither here nor in a layer above',
    hint: '{hint}',
  },
  POLICY_NOT_A_PATTERN: { kind: 'file', text: 'Root "{root}" has no members: only a root whose path ends in "/*" has' },
  POLICY_MEMBER: {
    kind: 'file',
    text: '"{member}" is no member of root "{root}": it must be one name, or "*" for all',
    hint: 'Write "{root}" for all members',
  },
  POLICY_UNKNOWN_RULE: { kind: 'file', text: 'Rule "{name}" stands neither here nor in a layer above', hint: '{hint}' },
  POLICY_NEAR_NAME: {
    kind: 'file',
    text: '{what} "{name}" is not declared: any peer that says so is meant',
    hint: 'Did you mean "{near}"?',
  },
  POLICY_PATH: { kind: 'file', text: 'Path "{path}" cannot be used: {why}' },
  POLICY_LITERAL_STAR: {
    kind: 'file',
    text: 'The "*" in "{part}" means itself: only a whole component can be a star',
    hint: 'Write "*" for any one name, "/**" for all below',
  },
  POLICY_PATH_GRANTED: {
    kind: 'file',
    text: 'Path "{path}" stands in "{effect}": only names of roots can be allowed or asked for',
    hint: 'Declare a root with this path and name it here',
  },
  POLICY_WIDE_ROOT: {
    kind: 'file',
    text: 'Root "{name}" is {what}: a root must be narrower',
    hint: 'Name a directory below it',
  },
  POLICY_HAVING: {
    kind: 'file',
    text: 'Key "having" is out of place: only a root whose path ends in "/*" has members to choose from',
    hint: 'Delete it, or end the path in "/*"',
  },
  POLICY_INTERPRETER: {
    kind: 'file',
    text: 'Program "{exe}" is an interpreter: every script that it runs would be meant',
    hint: 'Use "command", "socket" or "sha256"',
  },
  POLICY_NO_EFFECT: {
    kind: 'file',
    text: '"{key}" has no effect yet: nothing enforces it',
    hint: 'See "rootsd explain --server NAME" for what is not enforced',
  },
  POLICY_NEVER_MATCHES: {
    kind: 'file',
    text: '"{key}" cannot be established yet: {what} "{name}" never matches',
    hint: 'Take it out, or wait for the version that can',
  },
  POLICY_NO_LISTENER: {
    kind: 'file',
    text: 'No listener is named "{socket}": {what} "{name}" never matches',
    hint: 'Add it to "listeners" in rootsd.yaml',
  },
  POLICY_MOMENT: {
    kind: 'file',
    text: 'There is no moment "{moment}"',
    hint: 'Write one that the calendar has, in UTC, as 2026-12-31T18:00:00Z',
  },
  POLICY_SENSITIVE_SCOPE: {
    kind: 'file',
    text: 'Scope "{scope}" is too long for the sensitive root "{root}": it must be once or session',
  },
  CATALOGUE_CHANNEL: {
    kind: 'file',
    text: 'Channel "{kind}" needs more than its name here: a map must say how it is done',
    hint: 'Write "{ kind: {kind}, … }"',
  },
  POLICY_PROMPT: { kind: 'file', text: 'Prompt "{prompt}" cannot be used: {why}' },

  // Who may write the files (docs/policy.md, "Who may write a policy file")
  TRUST_NOT_A_FILE: { kind: 'file', text: '"{path}" is {what}: it must be a regular file' },
  TRUST_OWNER: { kind: 'file', text: '"{path}" belongs to uid {uid}: it must belong to {owners}', hint: 'Run: {fix}' },
  TRUST_OTHERS_WRITE: { kind: 'file', text: '"{path}" can be written by everyone', hint: '{fix}' },
  TRUST_GROUP_WRITE: { kind: 'file', text: '"{path}" can be written by the group {gid}', hint: '{fix}' },
  TRUST_CHANGED: { kind: 'file', text: '"{path}" changed while it was read', hint: 'Try again' },

  BUG: { kind: 'bug', text: 'Internal error' },
}));

export type Code = keyof ReturnType<typeof codes>;
export type Params = Readonly<Record<string, string | number>>;

/** The table is made when it is first needed: `rootsd run`, which starts with each server, seldom does. */
function madeOnce<const T extends Record<string, CodeEntry>>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** The text of a code with its parameters put in. */
export function messageOf(code: Code, params: Params = {}): string {
  return codes()[code].text.replace(/\{(\w+)\}/g, (_, name: string) => String(params[name] ?? `{${name}}`));
}

/** The hint of a code with its parameters put in, or undefined where it has none. */
export function hintOf(code: Code, params: Params = {}): string | undefined {
  const entry: CodeEntry = codes()[code];
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

/** The position of what concerns a file as a whole. */
export function startOf(file: string): Position {
  return { file, line: 1, column: 1, endLine: 1, endColumn: 1 };
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
    return codes()[this.code].kind;
  }
}

/** Makes a Problem from a code, its parameters and a position. */
export function problem(code: Code, at: Position, params: Params = {}, severity: Severity = 'error'): Problem {
  const hint = hintOf(code, params);
  const { file, line, column, endLine, endColumn } = at;
  const base = { code, severity, file, line, column, endLine, endColumn, message: messageOf(code, params) };
  return hint === undefined ? base : { ...base, hint };
}
