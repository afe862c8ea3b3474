import { renameSync, rmSync, writeFileSync } from 'node:fs';
import type { Catalogue } from '../core/catalogue.ts';
import { PLAN_FIRST_SUFFIX, planFirst } from '../core/plan-first.ts';
import type { Policy } from '../core/policy.ts';
import type { Part } from './open-parts.ts';

/**
 * A file beside the peers' socket that says which servers `rootsd run` must not start before it has their plan. Whoever
 * cannot read it starts none: where it cannot be written, starts are slower and nothing else.
 */
export class EarlyStarts implements Part {
  readonly #path: string;
  #written = '';

  constructor(socket: string) {
    this.#path = `${socket}${PLAN_FIRST_SUFFIX}`;
  }

  /** The policy, or what is known of servers, may be another one. */
  update({ servers }: Policy, catalogue: Catalogue): void {
    const text = `${JSON.stringify(planFirst(catalogue, servers.values()))}\n`;
    if (text === this.#written) return;
    try {
      writeFileSync(`${this.#path}.new`, text, { mode: 0o600 });
      renameSync(`${this.#path}.new`, this.#path);
      this.#written = text;
    } catch {
      this.close();
    }
  }

  close(): void {
    this.#written = '';
    try {
      rmSync(this.#path, { force: true });
    } catch {
      // Its directory is gone, or is not ours any more: nobody looks there for us.
    }
  }
}
