import { hostname } from 'node:os';
import type { Expansions } from '../core/pattern.ts';
import type { Account } from '../disk/account.ts';

/** What `~`, `${home}`, `${user}`, `${uid}` and `${hostname}` stand for in the policies of this account. */
export function expansionsOf({ name, uid }: Pick<Account, 'name' | 'uid'>, home: string): Expansions {
  return { home, user: name, uid, hostname: hostname() };
}
