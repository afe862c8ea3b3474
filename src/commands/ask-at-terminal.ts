import { closeSync, openSync, readSync, writeSync } from 'node:fs';

const MAX_BYTES = 1_024;

/**
 * Asks at the controlling terminal and nowhere else, whatever standard input and output are. null: there is none, or nothing
 * was typed.
 */
export function askAtTerminal(prompt: string): string | null {
  let terminal: number | undefined;
  try {
    terminal = openSync('/dev/tty', 'r+');
    writeSync(terminal, prompt);
    const text = readLine(terminal).trim();
    return text === '' ? null : text;
  } catch {
    return null;
  } finally {
    if (terminal !== undefined) closeSync(terminal);
  }
}

/** A terminal gives a line at a time, but for one that a program has taken for its keys: then Return is a carriage return. */
function readLine(terminal: number): string {
  const typed = Buffer.alloc(MAX_BYTES);
  for (let length = 0; length < MAX_BYTES; ) {
    const more = readSync(terminal, typed, length, MAX_BYTES - length, null);
    length += more;
    const text = typed.toString('utf8', 0, length);
    if (more === 0 || /[\r\n]/.test(text)) return text;
  }
  return '';
}
