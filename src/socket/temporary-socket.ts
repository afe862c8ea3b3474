// Sockets are bound under a name of the moment and then given their own.

import { randomInt } from 'node:crypto';

const CHARACTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';
const PREFIX = '.s';
const RANDOM_LENGTH = 10;
const TEMPORARY = new RegExp(`^\\${PREFIX}[${CHARACTERS}]{${RANDOM_LENGTH}}$`);

/** A random name of at most `maxLength` characters. One that is cut short is not known again as temporary. */
export function temporarySocketName(maxLength: number): string {
  if (maxLength < PREFIX.length + RANDOM_LENGTH) return randomText(Math.max(1, maxLength));
  return `${PREFIX}${randomText(RANDOM_LENGTH)}`;
}

/** Is this such a name? */
export function isTemporarySocketName(name: string): boolean {
  return TEMPORARY.test(name);
}

function randomText(length: number): string {
  return Array.from({ length }, () => CHARACTERS[randomInt(CHARACTERS.length)]).join('');
}
