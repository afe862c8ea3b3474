import { patternPath } from '../core/pattern.ts';
import type { HostEntry, Selectors, ServerEntry } from '../core/policy.ts';
import { parseUser, type UserSelector } from '../core/rule.ts';
import { compileChannels } from './compile-channels.ts';
import { compilePath } from './compile-path.ts';
import type { LayerScope } from './layer-scope.ts';
import { nearestOf } from './nearest.ts';
import type { Entry, PolicySource } from './policy-source.ts';
import type { RawHost } from './raw-policy.ts';
import { type Pointer, pointerTo } from './yaml-file.ts';

/** Programs that run what they are given; a version may follow. An `exe` of one of them would mean every script. */
const INTERPRETER = new RegExp(
  `^(?:${[
    ['node', 'nodejs', 'deno', 'bun', 'tsx', 'ts-node', 'electron', 'npx', 'npm', 'pnpm', 'yarn', 'bunx'],
    ['python', 'pypy', 'uv', 'uvx', 'pipx', 'ruby', 'perl', 'php', 'lua', 'luajit', 'tclsh', 'wish', 'Rscript', 'R'],
    ['sh', 'bash', 'dash', 'ash', 'zsh', 'ksh', 'mksh', 'csh', 'tcsh', 'fish', 'busybox', 'pwsh', 'env', 'awk', 'gawk'],
    ['java', 'dotnet', 'mono', 'guile', 'elixir', 'erl', 'escript', 'julia', 'osascript'],
  ]
    .flat()
    .join('|')})(?:[-._]?[0-9][0-9._]*[a-z]*)?$`,
  'i',
);

const DIGEST = /^[0-9a-fA-F]{64}$/;

/** The servers that a file declares. */
export function compileServers(source: PolicySource, scope: LayerScope): ServerEntry[] {
  return source.entriesOf('servers').map((entry) => {
    const { raw, pointer } = entry;
    // What will protect once it is built must not be taken for protection now.
    if (raw.confine === 'best-effort') {
      source.warn('POLICY_NO_EFFECT', pointerTo(pointer, 'confine'), { key: 'confine' });
    }
    return {
      ...compileEntry(source, scope, 'server', entry),
      roots: raw.roots !== 'off',
      hostRoots: raw['host-roots'] ?? 'narrow',
      guard: raw.guard ?? 'on',
      paths: raw.paths ?? [],
      ...(raw.channels === undefined
        ? {}
        : { channels: compileChannels(source, scope, pointerTo(pointer, 'channels'), raw.channels) }),
      confine: raw.confine ?? 'none',
    };
  });
}

/** The hosts that a file declares. */
export function compileHosts(source: PolicySource, scope: LayerScope): HostEntry[] {
  return source.entriesOf('hosts').map((entry) => compileEntry(source, scope, 'host', entry));
}

function compileEntry(source: PolicySource, scope: LayerScope, what: string, entry: Entry<RawHost>): HostEntry {
  const { name, pointer, raw } = entry;
  if (raw.socket !== undefined && !scope.listeners.has(raw.socket)) {
    source.warn('POLICY_NO_LISTENER', pointerTo(pointer, 'socket'), { socket: raw.socket, what, name });
  }
  if (raw.sha256 !== undefined && DIGEST.test(raw.sha256))
    source.warn('POLICY_NEVER_MATCHES', pointerTo(pointer, 'sha256'), { key: 'sha256', what, name });
  if (raw.require === 'attested') {
    source.warn('POLICY_NEVER_MATCHES', pointerTo(pointer, 'require'), { key: 'require: attested', what, name });
  }
  return { name, selectors: compileSelectors(source, scope, pointer, raw), source: source.sourceOf(pointer) };
}

function compileSelectors(source: PolicySource, scope: LayerScope, pointer: Pointer, raw: RawHost): Selectors {
  const command = raw.command === undefined ? undefined : compileCommand(source, pointer, raw.command);
  const exe = raw.exe === undefined ? undefined : compileExe(source, scope, pointerTo(pointer, 'exe'), raw.exe);
  return {
    ...(command === undefined ? {} : { command }),
    ...(raw.socket === undefined ? {} : { socket: raw.socket }),
    ...(exe === undefined ? {} : { exe }),
    ...(raw.sha256 === undefined ? {} : { sha256: raw.sha256.toLowerCase() }),
    ...(raw.require === undefined ? {} : { require: raw.require }),
  };
}

function compileCommand(source: PolicySource, pointer: Pointer, command: string | readonly string[]) {
  const words = typeof command === 'string' ? command.split(/\s+/).filter((word) => word !== '') : command;
  if (words.length === 0) source.refuse('SCHEMA_EMPTY', pointerTo(pointer, 'command'), { subject: '"command"' });
  return words;
}

function compileExe(source: PolicySource, scope: LayerScope, pointer: Pointer, text: string): string {
  const pattern = compilePath(source, pointer, text, { expansions: scope.expansions, stars: false });
  if (pattern === null) return text;
  const exe = patternPath(pattern);
  if (INTERPRETER.test(exe.slice(exe.lastIndexOf('/') + 1))) source.refuse('POLICY_INTERPRETER', pointer, { exe });
  return exe;
}

/** A user that a file names; the schema has seen to the form. */
export function compileUser(text: string): UserSelector {
  return parseUser(text) ?? { kind: 'name', name: text };
}

/** A server or host need not be declared, but a slip of the pen must not go unseen. */
export function warnOfNearNames(
  source: PolicySource,
  scope: LayerScope,
  kind: 'servers' | 'hosts',
  named: readonly { readonly name: string; readonly pointer: Pointer }[],
): void {
  const declared = scope.names[kind];
  for (const { name, pointer } of named) {
    if (declared.has(name)) continue;
    const near = nearestOf(name, declared.keys());
    const what = kind === 'servers' ? 'Server' : 'Host';
    if (near !== undefined) source.warn('POLICY_NEAR_NAME', pointer, { what, name, near });
  }
}

/** The items of a list with their pointers. */
export function pointedItems(pointer: Pointer, items: readonly string[] = []) {
  return items.map((name, i) => ({ name, pointer: pointerTo(pointer, i) }));
}
