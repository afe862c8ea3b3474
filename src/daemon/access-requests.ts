// Calls that wait for a person. Behind `rootsd run` a call that names what a person could give asks here, and is told what
// has become of it.

import { offerFor } from '../core/offers.ts';
import type { RealPath } from '../core/path.ts';
import type { AccessReply, AccessRequest, AccessState } from '../core/protocol.ts';
import type { View } from '../core/view.ts';
import type { AttachedSession } from '../socket/authority.ts';
import type { Grants } from './grants.ts';
import type { Questions, Raised, Wanted } from './questions.ts';

/** A session has no more calls than this that wait; one more is refused. */
const MAX_WAITING = 256;

export interface AccessRequestsOptions {
  readonly questions: Pick<Questions, 'raise' | 'callEnded' | 'callGoesOn'>;
  readonly grants: Pick<Grants, 'callEnded'>;
  /** What is in force for a session. */
  readonly viewOf: (session: AttachedSession) => View;
  /** The number of the view that a session was told last. */
  readonly serialOf: (session: AttachedSession) => number;
  /** What a person could give to a session. */
  readonly wantedOf: (session: AttachedSession) => readonly Wanted[];
  /** Resolves when what has changed by now has been decided anew and told. */
  readonly refreshed: () => Promise<void>;
}

interface WaitingCall {
  readonly request: AccessRequest;
  /** What is asked for it, by what that is about. */
  readonly asked: Map<string, Raised>;
}

export class AccessRequests {
  readonly #options: AccessRequestsOptions;
  readonly #waiting = new Map<AttachedSession, Map<number, WaitingCall>>();

  constructor(options: AccessRequestsOptions) {
    this.#options = options;
  }

  /** Where it is to wait, `session.decided()` follows. */
  request(session: AttachedSession, request: AccessRequest): AccessReply {
    this.callEnded(session, request.call);
    const calls = this.#waiting.get(session) ?? new Map<number, WaitingCall>();
    const call: WaitingCall = { request, asked: new Map() };
    const state = calls.size < MAX_WAITING ? this.#step(session, call) : 'too-many';
    if (state === 'asked') {
      this.#waiting.set(session, calls.set(request.call, call));
      void this.#wait(session, call);
    } else this.#stopAsking(session, request, state);
    const questions = [...call.asked.values()].map(({ question: { id, root, access } }) => ({ id, root, access }));
    return { state, serial: this.#options.serialOf(session), questions };
  }

  /** Nobody waits for this call any more. */
  callEnded(session: AttachedSession, call: number): void {
    this.#waiting.get(session)?.delete(call);
    this.#options.questions.callEnded(session.id, call);
    this.#options.grants.callEnded(session.id, call);
  }

  sessionClosed(session: AttachedSession): void {
    this.#waiting.delete(session);
  }

  async #wait(session: AttachedSession, call: WaitingCall): Promise<void> {
    const { request } = call;
    const { refreshed, serialOf } = this.#options;
    for (;;) {
      const open = [...call.asked.values()].filter(({ closed }) => !closed.isSet);
      await Promise.race(open.flatMap(({ closed, hidden }) => [closed.reached, hidden.reached]));
      await refreshed();
      if (this.#waiting.get(session)?.get(request.call) !== call) return;
      const state = this.#step(session, call);
      if (state === 'asked') continue;
      this.#waiting.get(session)?.delete(request.call);
      this.#stopAsking(session, request, state);
      session.decided({ call: request.call, state, serial: serialOf(session) });
      return;
    }
  }

  /** Asks what is still to be asked; how it stands then. */
  #step(session: AttachedSession, { request, asked }: WaitingCall): AccessState {
    const wanted = this.#wantedFor(session, request);
    if (typeof wanted === 'string') return wanted;
    for (const one of wanted) {
      const known = asked.get(one.text);
      if (known?.closed.isSet && known.isJoined) return 'no-answer';
      if (known !== undefined && !known.closed.isSet) continue;
      const raised = this.#options.questions.raise(session.id, one, request.call);
      if (raised === null) return 'too-many';
      asked.set(one.text, raised);
    }
    const isHidden = [...asked.values()].some(({ closed, hidden }) => hidden.isSet && !closed.isSet);
    return isHidden ? 'no-agent' : 'asked';
  }

  /** What nobody sees now stays listed, for who looks; it is the session's from then on. */
  #stopAsking(session: AttachedSession, { call }: AccessRequest, state: AccessState): void {
    const { questions } = this.#options;
    if (state === 'no-agent') questions.callGoesOn(session.id, call);
    else if (state !== 'granted') questions.callEnded(session.id, call);
  }

  /** What a person could give that the call lacks; `granted`: it lacks nothing. Only the lists are looked at, not the disk. */
  #wantedFor(session: AttachedSession, { wants }: AccessRequest): readonly Wanted[] | 'granted' | 'refused' {
    const { told, offers } = this.#options.viewOf(session);
    const possible = this.#options.wantedOf(session);
    const lacking = new Set<Wanted>();
    for (const { path, access } of wants) {
      const place = path as RealPath;
      if (offerFor(told, place, access) !== null) continue;
      const offer = offerFor(offers, place, access);
      if (offer === null || offer === 'refused') return 'refused';
      const wanted = possible.find(({ asks }) => asks.root === offer.root);
      if (wanted === undefined) return 'refused';
      lacking.add(wanted);
    }
    return lacking.size === 0 ? 'granted' : [...lacking];
  }
}
