// What control.sock answers: the `--json` shapes of the commands.

import type { Catalogue } from '../core/catalogue.ts';
import type { Consents } from '../core/consent.ts';
import type { Problem } from '../core/errors.ts';
import type { Evidence } from '../core/evidence.ts';
import type { Peer, User } from '../core/peer.ts';
import { METHOD, type PolicyState } from '../core/protocol.ts';
import type { Leads } from '../disk/path-look.ts';
import type { ControlHandlers } from '../socket/control-session.ts';
import type { Consent } from './consent.ts';
import { parseParams } from './control-params.ts';
import { explainRoots, explainServer, explainTarget, type Question } from './explain.ts';
import type { SessionRow } from './session-rows.ts';

export interface StatusReply {
  readonly version: string;
  readonly generation: string;
  readonly state: PolicyState;
  readonly problems: readonly Problem[];
  readonly sessions: number;
  readonly roots: number;
  readonly since: string;
  readonly layers: readonly {
    readonly layer: string;
    readonly state: string;
    readonly directory: string;
    readonly files: readonly string[];
    readonly since: string;
  }[];
}

export interface SessionsReply {
  readonly sessions: readonly SessionRow[];
}

export interface ReloadReply {
  readonly generation: string;
  readonly changed: boolean;
  readonly sessions: { readonly acknowledged: number; readonly late: number };
  readonly problems: readonly Problem[];
}

/** What is administered: the daemon. */
export interface Administered {
  readonly own: User;
  readonly consent: Consent;
  readonly catalogue: Catalogue;
  evidence(): Evidence;
  /** Where a path leads. */
  resolve(path: string): Promise<Leads>;
  status(): StatusReply;
  sessionRows(): readonly SessionRow[];
  reload(options: { readonly wait: boolean; readonly acceptEmpty: boolean }): Promise<ReloadReply>;
  stop(): void;
}

/** The handlers of a daemon's control socket. Who may call is the socket's affair. */
export function controlHandlers(daemon: Administered): ControlHandlers {
  const consentsOf = (peer: Peer): Consents => daemon.consent.grants.consentsNamed(peer);
  const context = () => ({ source: 'daemon', own: daemon.own, catalogue: daemon.catalogue, consentsOf }) as const;
  return {
    [METHOD.status]: async () => daemon.status(),
    [METHOD.sessions]: async (): Promise<SessionsReply> => ({ sessions: daemon.sessionRows() }),
    [METHOD.reload]: async (params) => {
      const { wait = false, acceptEmpty = false } = parseParams(params, { wait: 'boolean', acceptEmpty: 'boolean' });
      return daemon.reload({ wait: wait === true, acceptEmpty: acceptEmpty === true });
    },
    [METHOD.explain]: async (params) => {
      const question = parseQuestion(params);
      const { target } = question;
      if (target === undefined) return explainServer(daemon.evidence(), question, context());
      // On a mount that may hang a path takes a moment, and nobody else waits. The name of a root is not looked at.
      const leads = target.startsWith('/') ? { leads: await daemon.resolve(target) } : {};
      return explainTarget(daemon.evidence(), { ...question, target }, { ...context(), ...leads });
    },
    [METHOD.roots]: async (params) => explainRoots(daemon.evidence(), parseQuestion(params), context()),
    [METHOD.stop]: async () => {
      daemon.stop();
      return {};
    },
  };
}

const QUESTION = { server: 'string', claims: 'string', host: 'string', user: 'string', target: 'string' } as const;

function parseQuestion(params: unknown): Question {
  return parseParams(params, QUESTION) as Question;
}
