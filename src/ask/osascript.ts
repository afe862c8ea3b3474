// A dialog of macOS. What is asked reaches AppleScript as arguments alone: nothing in it can become script.

import type { Answer, Question } from '../core/question.ts';
import type { Asking } from './program-channel.ts';
import { questionText } from './question-text.ts';
import type { Program, ProgramEnd } from './run-program.ts';

const SCRIPT = [
  'on run argv',
  'display dialog (item 1 of argv) with title "rootsd" buttons (items 2 thru -1 of argv) default button 1',
  'return button returned of result',
  'end run',
];
const NO = 'No';
/** A dialog has three buttons at most. */
const MAX_SCOPES = 2;

export class Osascript implements Asking {
  readonly name = 'desktop';

  async programFor(question: Question): Promise<Program> {
    const script = SCRIPT.flatMap((line) => ['-e', line]);
    const buttons = offered(question).map(buttonOf);
    return { command: 'osascript', args: [...script, questionText(question), NO, ...buttons] };
  }

  readAnswer(question: Question, { output }: ProgramEnd): Answer | null {
    const pressed = output.trim();
    if (pressed === NO) return { says: 'no' };
    const scope = offered(question).find((one) => pressed === buttonOf(one));
    return scope === undefined ? null : { says: 'yes', scope };
  }
}

function offered({ scopes }: Question): readonly string[] {
  return scopes.slice(0, MAX_SCOPES);
}

function buttonOf(scope: string): string {
  return `Yes (${scope})`;
}
