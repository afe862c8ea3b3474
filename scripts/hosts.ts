// What is known of MCP hosts: where their configuration is, what they send and what they give a server. By hand, from their
// sources, their documentation and reports; each fact says how well it is known.

/** Read in the source, in the documentation, in an issue; reported by one third party; never checked. */
export type Certainty = 'source' | 'documentation' | 'issue' | 'report' | 'unchecked';

export interface Fact {
  readonly text: string;
  readonly by: Certainty;
}

/** How a server stands in the configuration. */
export type Shape =
  | 'mcpServers'
  | 'servers'
  | 'context_servers'
  | 'goose'
  | 'codex'
  | 'opencode'
  | 'continue'
  | 'crush';

export interface Host {
  /** For `--host`. */
  readonly name: string;
  readonly title: string;
  readonly shape: Shape;
  readonly files: readonly Fact[];
  readonly roots: Fact;
  /** Does it show a person the forms that a server sends? */
  readonly forms: Fact;
  readonly revision: Fact;
  readonly environment: Fact;
  readonly directory: Fact;
  readonly pitfalls: readonly Fact[];
}

const source = (text: string): Fact => ({ text, by: 'source' });
const documentation = (text: string): Fact => ({ text, by: 'documentation' });
const issue = (text: string): Fact => ({ text, by: 'issue' });
const report = (text: string): Fact => ({ text, by: 'report' });
const unchecked = (text: string): Fact => ({ text, by: 'unchecked' });
const NOT_FOUND = unchecked('not known');

export const HOSTS: readonly Host[] = [
  {
    name: 'claude-code',
    title: 'Claude Code',
    shape: 'mcpServers',
    files: [
      documentation('`~/.claude.json` for yourself (also per project, below `projects`)'),
      documentation('`.mcp.json` in a project, which the whole team shares'),
      documentation('`/etc/claude-code/managed-mcp.json` for a machine'),
    ],
    roots: source(
      'the directory it was started in; since 2.1.203 further working directories too, with notice of changes',
    ),
    forms: report('yes, since 2.1.76'),
    revision: issue('2025-11-25'),
    environment: unchecked('inherited, and `CLAUDE_PROJECT_DIR`'),
    directory: unchecked('that of its session; there is no setting'),
    pitfalls: [
      unchecked(
        'It rewrites `~/.claude.json` all the time: change it by `claude mcp add-json`, or while it does not run',
      ),
      report('An unset `${VAR}` reaches the server as it is written'),
      documentation('A hook of its own can answer questions in your place: then it says yes or no to `ask` rules too'),
      unchecked('A changed `.mcp.json` asks each colleague for their trust again'),
    ],
  },
  {
    name: 'claude-desktop',
    title: 'Claude Desktop',
    shape: 'mcpServers',
    files: [
      source('`~/.config/Claude/claude_desktop_config.json` (Linux)'),
      source('`~/Library/Application Support/Claude/claude_desktop_config.json` (macOS)'),
    ],
    roots: unchecked('listed as a host with roots; what it sends is not known'),
    forms: issue('no, as of 2026-03'),
    revision: NOT_FOUND,
    environment: issue('a short `PATH` and nothing of your shell'),
    directory: issue('`/`'),
    pitfalls: [
      issue('Name `rootsd` by its absolute path: its `PATH` does not hold what yours does'),
      report('One report says that the Linux build ignores the file and loads extensions only'),
      unchecked('It must be restarted to see a change'),
    ],
  },
  {
    name: 'vscode',
    title: 'VS Code',
    shape: 'servers',
    files: [
      documentation(
        '`~/.config/Code/User/mcp.json` (Linux), `~/Library/Application Support/Code/User/mcp.json` (macOS), one a profile',
      ),
      documentation('`.vscode/mcp.json` in a workspace'),
    ],
    roots: source('its workspace folders; it says when they change, if the server has listed since the last change'),
    forms: issue('yes'),
    revision: issue('2025-11-25'),
    environment: documentation('all of its own, then `envFile`, then `env`; a `PATH` there is appended'),
    directory: documentation('`cwd`, else the workspace folder, else the home'),
    pitfalls: [
      issue('In a remote session roots have another scheme than `file:`: `run` leaves those out and says so'),
      unchecked('It asks for trust again when the command changes'),
    ],
  },
  {
    name: 'cursor',
    title: 'Cursor',
    shape: 'mcpServers',
    files: [documentation('`~/.cursor/mcp.json`'), documentation('`.cursor/mcp.json` in a project')],
    roots: report('bare paths in place of URIs, or none: `run` takes a list without a usable entry for no list'),
    forms: report('yes'),
    revision: report('2025-11-25'),
    environment: report('has `WORKSPACE_FOLDER_PATHS`'),
    directory: report('`/` or the home'),
    pitfalls: [issue('Version 1.6 ignored servers whose name begins with "filesystem"')],
  },
  {
    name: 'zed',
    title: 'Zed',
    shape: 'context_servers',
    files: [source('`~/.config/zed/settings.json`')],
    roots: issue('none, and none are planned'),
    forms: report('no'),
    revision: source('its newest, else 2024-11-05'),
    environment: source('inherited, and `env`'),
    directory: issue('`/` after a restart, else that of a project; there is no setting'),
    pitfalls: [issue('Older files nest `command: { path, args, env }`')],
  },
  {
    name: 'goose',
    title: 'Goose',
    shape: 'goose',
    files: [source('`~/.config/goose/config.yaml`')],
    roots: source('one, its working directory; it says when it changes though it does not announce that'),
    forms: issue('yes, but not yet within results of revision 2026-07-28'),
    revision: source('2025-03-26'),
    environment: source('inherited, with a `PATH` of its own and `GOOSE_WORKING_DIR`'),
    directory: source('that of its session'),
    pitfalls: [source('Values of `env_keys` come from the keyring')],
  },
  {
    name: 'gemini-cli',
    title: 'Gemini CLI',
    shape: 'mcpServers',
    files: [
      source('`~/.gemini/settings.json`'),
      source('`.gemini/settings.json` in a project'),
      source('`/etc/gemini-cli/settings.json` for a machine'),
    ],
    roots: source('every directory of its workspace, with notice of each change'),
    forms: issue('no, as of 2026-06'),
    revision: source('2025-06-18'),
    environment: source('its own without names that look secret; what `env` sets stays'),
    directory: source('`cwd`, else its own'),
    pitfalls: [source('It starts no server in a folder that is not trusted'), source('An unset `$VAR` becomes empty')],
  },
  {
    name: 'codex',
    title: 'Codex (CLI, IDE, app)',
    shape: 'codex',
    files: [
      source('`~/.codex/config.toml`, or below `$CODEX_HOME`'),
      report('`.codex/config.toml` in a trusted project'),
    ],
    roots: source('none'),
    forms: issue('yes, since 2026-03'),
    revision: source('2025-06-18'),
    environment: source('cleared, then `HOME`, `PATH`, `USER`, `LANG`, `TMPDIR` and a few more, `env` and `env_vars`'),
    directory: issue('that of its session, or `/` in the desktop app'),
    pitfalls: [
      source('`run` finds the daemon without `XDG_RUNTIME_DIR`, by the uid'),
      source('It kills the process group at its end: all below `run` is in it'),
      source('Names are letters, digits, "_" and "-"'),
    ],
  },
  {
    name: 'cline',
    title: 'Cline',
    shape: 'mcpServers',
    files: [source('`~/.cline/data/settings/cline_mcp_settings.json`')],
    roots: source('none'),
    forms: source('no'),
    revision: source('2024-11-05'),
    environment: source('all of its own, or a short list and `env` in the extension'),
    directory: source('`cwd`, else its own'),
    pitfalls: [source('It locks the file with a directory `FILE.lock` while it writes')],
  },
  {
    name: 'windsurf',
    title: 'Windsurf',
    shape: 'mcpServers',
    files: [report('`~/.codeium/windsurf/mcp_config.json`')],
    roots: report('none'),
    forms: NOT_FOUND,
    revision: NOT_FOUND,
    environment: NOT_FOUND,
    directory: issue('`/`'),
    pitfalls: [],
  },
  {
    name: 'copilot-cli',
    title: 'Copilot CLI',
    shape: 'mcpServers',
    files: [
      source('`~/.copilot/mcp-config.json`'),
      source('`.mcp.json` or `.github/mcp.json` in a project, no longer `.vscode/mcp.json`'),
    ],
    roots: report('none'),
    forms: NOT_FOUND,
    revision: NOT_FOUND,
    environment: source('adds `COPILOT_AGENT_SESSION_ID`'),
    directory: source('the root of the repository for servers of `.mcp.json`'),
    pitfalls: [],
  },
  {
    name: 'opencode',
    title: 'opencode',
    shape: 'opencode',
    files: [
      documentation('`~/.config/opencode/opencode.json`'),
      documentation('`opencode.json` in a project'),
      documentation('`/etc/opencode/opencode.json` for a machine'),
    ],
    roots: issue('the directory of its instance; it never says that it changes'),
    forms: issue('no, as of 2026-05'),
    revision: NOT_FOUND,
    environment: NOT_FOUND,
    directory: NOT_FOUND,
    pitfalls: [documentation('`command` is one list, program and arguments together')],
  },
  {
    name: 'continue',
    title: 'Continue',
    shape: 'continue',
    files: [documentation('`~/.continue/config.yaml`'), documentation('`.continue/mcpServers/*.yaml` in a project')],
    roots: source('none'),
    forms: NOT_FOUND,
    revision: NOT_FOUND,
    environment: source('a few variables and the `PATH` of your login shell'),
    directory: source('that of the workspace'),
    pitfalls: [],
  },
  {
    name: 'roo-code',
    title: 'Roo Code',
    shape: 'mcpServers',
    files: [
      source('`mcp_settings.json` in the global storage of the extension'),
      source('`.roo/mcp.json` in a project'),
    ],
    roots: source('none'),
    forms: NOT_FOUND,
    revision: NOT_FOUND,
    environment: source('a short list and `env`'),
    directory: source('the first folder of the workspace'),
    pitfalls: [],
  },
  {
    name: 'junie',
    title: 'Junie',
    shape: 'mcpServers',
    files: [report('`~/.junie/mcp/mcp.json`'), report('`.junie/mcp/mcp.json` in a project')],
    roots: NOT_FOUND,
    forms: NOT_FOUND,
    revision: NOT_FOUND,
    environment: NOT_FOUND,
    directory: NOT_FOUND,
    pitfalls: [],
  },
  {
    name: 'copilot-jetbrains',
    title: 'Copilot in JetBrains',
    shape: 'servers',
    files: [source('the global `mcp.json` that the IDE opens')],
    roots: NOT_FOUND,
    forms: issue('no, as of 2026-03'),
    revision: NOT_FOUND,
    environment: NOT_FOUND,
    directory: NOT_FOUND,
    pitfalls: [],
  },
  {
    name: 'lm-studio',
    title: 'LM Studio',
    shape: 'mcpServers',
    files: [source('`~/.lmstudio/mcp.json` or `~/.cache/lm-studio/mcp.json`')],
    roots: NOT_FOUND,
    forms: NOT_FOUND,
    revision: NOT_FOUND,
    environment: NOT_FOUND,
    directory: NOT_FOUND,
    pitfalls: [],
  },
  {
    name: 'kiro',
    title: 'Kiro',
    shape: 'mcpServers',
    files: [source('`~/.kiro/settings/mcp.json`'), source('`.kiro/settings/mcp.json` in a project')],
    roots: NOT_FOUND,
    forms: NOT_FOUND,
    revision: NOT_FOUND,
    environment: NOT_FOUND,
    directory: NOT_FOUND,
    pitfalls: [],
  },
  {
    name: 'crush',
    title: 'Crush',
    shape: 'crush',
    files: [source('`~/.config/crush/crush.json`'), source('`.crush.json` in a project')],
    roots: NOT_FOUND,
    forms: NOT_FOUND,
    revision: NOT_FOUND,
    environment: NOT_FOUND,
    directory: NOT_FOUND,
    pitfalls: [],
  },
];
