// The plainest way to reach a person: `rootsd consent list` shows what is asked, `approve` and `deny` answer it. It is there
// even when no other channel is.

import { AnsweredById } from './answered-by-id.ts';

export class CommandLine extends AnsweredById {
  readonly name = 'command';

  /** Nobody sees what is not looked for. */
  override shows(): boolean {
    return false;
  }
}
