// `rootsd consent agent`: shows each question at this terminal as it comes, and takes its answer by one key.

import { ReadStream } from 'node:tty';
import { TerminalPrompt } from '../ask/terminal-prompt.ts';
import { RootsError } from '../core/errors.ts';
import { Latch } from '../core/latch.ts';
import { EXIT, type Io, printLine } from './io.ts';
import { type LocateOptions, locateMachine } from './machine.ts';
import { QuestionWatch } from './question-watch.ts';
import { RawTerminal } from './raw-terminal.ts';

const GONE = 'the daemon is gone';

export interface AgentOptions extends LocateOptions {
  readonly fallback?: boolean;
}

/** Runs until the person quits or the terminal is gone; a daemon that goes is waited for. */
export async function consentAgentCommand(options: AgentOptions, io: Io): Promise<number> {
  const { stdin } = io;
  if (!(stdin instanceof ReadStream) || io.stdout.isTTY !== true) {
    throw new RootsError('USAGE', { what: 'Cannot ask here: standard input and output must be a terminal' });
  }
  const { search } = locateMachine(options, io, 'command');
  const quit = new Latch();
  const prompt = new TerminalPrompt({
    write: (line) => printLine(io, line),
    answer: (question, answer) => watch.answer(question, answer),
    onEnd: () => quit.set(),
    now: () => performance.now(),
  });
  const watch = new QuestionWatch({ prompt, search, isFallback: options.fallback === true });
  await watch.connect();
  const terminal = new RawTerminal(stdin, { onKeys: (typed) => void prompt.keys(typed), onGone: () => quit.set() });
  try {
    printLine(io, 'Questions are shown here as they come. [q] ends it.');
    await watch.begin();
    for (;;) {
      await Promise.race([watch.lost(), quit.reached]);
      if (quit.isSet) return EXIT.yes;
      prompt.clear(GONE);
      printLine(io, `Waiting: ${GONE}`);
      await Promise.race([watch.again(), quit.reached]);
      if (!quit.isSet) printLine(io, 'The daemon is back');
    }
  } finally {
    terminal.close();
    watch.close();
  }
}
