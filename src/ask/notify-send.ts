// A notification with buttons. notify-send waits for one of them and prints its name; where the service has no buttons it
// shows the question all the same, and answers nothing.

import type { Answer, Question } from '../core/question.ts';
import type { Asking } from './program-channel.ts';
import { questionText } from './question-text.ts';
import type { Program, ProgramEnd } from './run-program.ts';

const SUMMARY = 'rootsd: a server asks for access';
const NO = 'no';
const YES = 'yes-';

export class NotifySend implements Asking {
  readonly name = 'desktop';

  async programFor(question: Question): Promise<Program> {
    const buttons = [`${NO}=No`, ...question.scopes.map((scope, i) => `${YES}${i}=Yes (${scope})`)];
    // One that expires would be gone before it is answered.
    const options = ['--app-name=rootsd', '--urgency=critical', ...buttons.map((button) => `--action=${button}`)];
    const args = [...options, '--', SUMMARY, bodyOf(questionText(question))];
    return { command: 'notify-send', args, stopSignal: 'SIGINT' };
  }

  readAnswer({ scopes }: Question, { output }: ProgramEnd): Answer | null {
    const pressed = output.trim();
    if (pressed === NO) return { says: 'no' };
    const at = scopes.findIndex((_scope, i) => pressed === `${YES}${i}`);
    const scope = scopes[at];
    return scope === undefined ? null : { says: 'yes', scope };
  }
}

const MARKUP: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\\': '\\\\' };

/** A body is markup, and notify-send takes backslashes for escapes: a name with one must not become a new line. */
function bodyOf(text: string): string {
  return text.replace(/[&<>\\]/g, (character) => MARKUP[character] ?? character);
}
