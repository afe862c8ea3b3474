// `rootsd consent agent`: shows each question at this terminal as it comes, and takes its answer by one key.

import { ReadStream } from 'node:tty';
import { TerminalPrompt } from '../ask/terminal-prompt.ts';
import { refused, unreachable } from '../client/as-roots-error.ts';
import { type Connection, RefusedRequest } from '../client/connection.ts';
import { openControl } from '../client/control.ts';
import { RootsError } from '../core/errors.ts';
import { METHOD } from '../core/protocol.ts';
import type { Answer, Given, Question } from '../core/question.ts';
import type { AnswerReply } from '../daemon/consent-control.ts';
import { EXIT, type Io, printLine } from './io.ts';
import { type LocateOptions, locateMachine } from './machine.ts';
import { RawTerminal } from './raw-terminal.ts';

export interface AgentOptions extends LocateOptions {
  readonly fallback?: boolean;
}

/** Runs until the person quits, the terminal is gone, or the daemon ends. */
export async function consentAgentCommand(options: AgentOptions, io: Io): Promise<number> {
  const { stdin } = io;
  if (!(stdin instanceof ReadStream) || io.stdout.isTTY !== true) {
    throw new RootsError('USAGE', { what: 'Cannot ask here: standard input and output must be a terminal' });
  }
  const { search } = locateMachine(options, io, 'command');
  let stop = (): void => {};
  let fail = (_error: RootsError): void => {};
  const ended = new Promise<number>((resolve, reject) => {
    stop = () => resolve(EXIT.yes);
    fail = reject;
  });
  // It may end while the terminal is being set up, where nobody waits for it yet.
  ended.catch(() => {});
  const prompt = new TerminalPrompt({
    write: (line) => printLine(io, line),
    answer: (question, answer) => send(connection, question, answer),
    onEnd: stop,
  });
  const connection = await openControl(search, {
    onNotification: (method, params) => take(prompt, method, params),
    onClose: () => fail(unreachable('the daemon has ended, or has closed the connection')),
  });
  const terminal = new RawTerminal(stdin, { onKeys: (typed) => void prompt.keys(typed), onGone: stop });
  try {
    printLine(io, 'Questions are shown here as they come. [q] ends it.');
    await asked(connection.request(METHOD.consentWatch, { fallback: options.fallback === true }));
    return await ended;
  } finally {
    terminal.close();
    connection.close();
  }
}

function take(prompt: TerminalPrompt, method: string, params: unknown): void {
  if (method === METHOD.consentAsked) prompt.asked((params as { readonly question: Question }).question);
  if (method !== METHOD.consentWithdrawn) return;
  const { id, why } = params as { readonly id: string; readonly why: string };
  prompt.withdrawn(id, why);
}

async function send(connection: Connection, { id }: Question, answer: Answer): Promise<Given | null> {
  const { says, ...rest } = answer;
  const method = says === 'yes' ? METHOD.consentApprove : METHOD.consentDeny;
  const { given } = (await asked(connection.request(method, { id, ...rest }))) as AnswerReply;
  return given;
}

/** A refusal as our own error. */
async function asked(reply: Promise<unknown>): Promise<unknown> {
  try {
    return await reply;
  } catch (error) {
    if (error instanceof RefusedRequest) throw refused(error);
    throw unreachable((error as Error).message, error);
  }
}
