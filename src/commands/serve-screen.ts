// What `rootsd serve` says to a person at a terminal: where it listens, what each server may see, and what has changed.

import { escapeForTerminal, shellQuoted } from '../core/display.ts';
import type { Daemon } from '../daemon/daemon.ts';
import { problemLine } from '../policy/format-problem.ts';
import type { Settings } from '../policy/settings.ts';
import { VERSION } from '../version.ts';
import { describeServers } from './describe-servers.ts';
import type { ExampleHome } from './example-home.ts';
import { type Io, printLine } from './io.ts';
import { packageFile } from './package-file.ts';

const FILESYSTEM = 'npx -y @modelcontextprotocol/server-filesystem';

export class Screen {
  /** Is there anybody to read it? */
  readonly isShown: boolean;
  readonly #io: Io;
  readonly #example: ExampleHome | null;
  #daemon: Daemon | null = null;
  #shown = '';

  constructor(io: Io, example: ExampleHome | null) {
    this.#io = io;
    this.#example = example;
    this.isShown = io.stdout.isTTY === true || example !== null;
  }

  /** The daemon answers from now on. */
  open(daemon: Daemon, settings: Settings): void {
    if (!this.isShown) return;
    this.#daemon = daemon;
    this.#say(`rootsd ${VERSION} listens on ${daemon.address}`, '');
    this.#shown = this.#state(daemon).join('\n');
    this.#say(...this.#state(daemon), '', ...this.#advice(daemon, settings), '', 'Ctrl-C ends it.');
  }

  /** Something in force has changed: says what servers may see now, if that is something else. */
  changed(): void {
    if (this.#daemon === null) return;
    const state = this.#state(this.#daemon);
    if (state.join('\n') === this.#shown) return;
    this.#shown = state.join('\n');
    this.#say('', `${new Date().toTimeString().slice(0, 8)} changed:`, ...state);
  }

  #state(daemon: Daemon): readonly string[] {
    const { problems, state } = daemon.status();
    const lines = problems.map(problemLine);
    if (state !== 'ok') lines.push(STATE_TEXT[state]);
    return [...lines, ...describeServers(daemon.evidence(), { own: daemon.own, catalogue: daemon.catalogue })];
  }

  #advice(daemon: Daemon, settings: Settings): readonly string[] {
    const example = this.#example;
    if (example === null) {
      return [
        `Policies are read from ${settings.layers.system} and ${settings.layers.user}, as they are saved.`,
        'Why a server may see a root or not: rootsd explain --server NAME',
      ];
    }
    const rootsd = packageFile('bin/rootsd');
    return [
      `To see a change arrive, edit ${example.policy}`,
      '(take a rule away, or change an access, and save). To see it arrive in a real server, put this line into a host:',
      '',
      `  ${shellQuoted(rootsd)} run --socket ${shellQuoted(daemon.address)} --server filesystem -- ${FILESYSTEM}`,
      '',
      'To say yes to what a person is asked:',
      '',
      `  ${rootsd} consent list --socket ${daemon.address}`,
      '',
      'Why it may see a root or not:',
      '',
      `  ${rootsd} explain --socket ${daemon.address} --server filesystem`,
      '',
      `All of this lives in ${example.home} and is removed at the end.`,
    ];
  }

  #say(...lines: readonly string[]): void {
    for (const line of lines) printLine(this.#io, escapeForTerminal(line));
  }
}

const STATE_TEXT = {
  degraded: 'DEGRADED: the last good policy stays in force',
  lockdown: 'LOCKDOWN: no valid policy, nothing is exposed',
} as const;
