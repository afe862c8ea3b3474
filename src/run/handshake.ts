// What a server has been told that outlives it: said again to the process that takes its place.

import { announceRoots, withId } from './announce.ts';
import type { LineWriter } from './line-writer.ts';
import type { OwnRequests } from './own-requests.ts';

/** A server that is fetched by npx or uvx may take its time. */
const INITIALIZE_DEADLINE_MS = 60_000;
const DEADLINE_MS = 10_000;
export const INITIALIZED = 'notifications/initialized';

export interface ReplayOptions {
  /** Are roots announced to the new process? The policy may have changed since. */
  readonly offersRoots: boolean;
  /** May the server still get what it was once told to send notifications of? */
  readonly mayPass: (line: Buffer) => Promise<boolean>;
  /** The process is being replaced itself: nothing more is said to it. */
  readonly signal: AbortSignal;
}

export class Handshake {
  /** As the server got it, with the host's id. */
  #initialize: Buffer | null = null;
  #initializeId: string | null = null;
  #isAnswered = false;
  #initialized: Buffer | null = null;
  readonly #subscriptions = new Map<string, Buffer>();
  #logLevel: Buffer | null = null;
  /** Requests of the modern era that last, by their id (a JSON text). */
  readonly #listening = new Map<string, Buffer>();

  /** Has the host sent `initialize`? */
  get hasBegun(): boolean {
    return this.#initialize !== null;
  }

  /** The id (a JSON text) of `initialize` while the server has not answered it. */
  get openId(): string | null {
    return this.#isAnswered ? null : this.#initializeId;
  }

  get isInitialized(): boolean {
    return this.#initialized !== null;
  }

  noteInitialize(line: Buffer, id: string): void {
    this.#initialize = Buffer.from(line);
    this.#initializeId = id;
    this.#isAnswered = false;
  }

  noteAnswer(id: string | null): void {
    if (id === this.#initializeId) this.#isAnswered = true;
    if (id !== null) this.#listening.delete(id);
  }

  /** The host listens, under the id of this request. */
  noteListening(id: string, line: Buffer): void {
    this.#listening.set(id, line);
  }

  /** Nobody listens under this id any more; false: nobody did. */
  stopListening(id: string): boolean {
    return this.#listening.delete(id);
  }

  noteInitialized(line: Buffer): void {
    this.#initialized = Buffer.from(line);
  }

  /** A request that changes what the server does from then on. */
  noteSetting(method: string, line: Buffer): void {
    if (method === 'logging/setLevel') this.#logLevel = Buffer.from(line);
    const uri = subscribedUri(line);
    if (uri === null) return;
    if (method === 'resources/subscribe') this.#subscriptions.set(uri, Buffer.from(line));
    if (method === 'resources/unsubscribe') this.#subscriptions.delete(uri);
  }

  /** Says it all again; answers that the host has had already are swallowed. Resolves when the server is where it was. */
  async replay(server: LineWriter, own: OwnRequests, options: ReplayOptions): Promise<void> {
    await this.#replayLegacy(server, own, options);
    if (options.signal.aborted) return;
    const listening = await passing([...this.#listening.values()], options);
    for (const line of listening) say(server, line);
  }

  async #replayLegacy(server: LineWriter, own: OwnRequests, options: ReplayOptions): Promise<void> {
    const { offersRoots, signal } = options;
    if (this.#initialize === null) return;
    const initialize = announceRoots(this.#initialize, offersRoots).line;
    if (!this.#isAnswered) return say(server, initialize);
    const { id, reply } = own.open(INITIALIZE_DEADLINE_MS);
    say(server, ...withId(initialize, id));
    await reply;
    if (this.#initialized === null || signal.aborted) return;
    say(server, this.#initialized);
    const subscriptions = await passing([...this.#subscriptions.values()], options);
    if (signal.aborted) return;
    const settings = [...subscriptions, ...(this.#logLevel === null ? [] : [this.#logLevel])];
    await Promise.all(
      settings.map((line) => {
        const request = own.open(DEADLINE_MS);
        say(server, ...withId(line, request.id));
        return request.reply;
      }),
    );
  }
}

/** Of the modern era; it is answered when it ends. */
export const LISTEN = 'subscriptions/listen';

export const SETTINGS: ReadonlySet<string> = new Set([
  'resources/subscribe',
  'resources/unsubscribe',
  'logging/setLevel',
]);

/** Those of the lines that may pass; none once the process is being replaced itself. */
async function passing(lines: readonly Buffer[], { mayPass, signal }: ReplayOptions): Promise<readonly Buffer[]> {
  const passed: Buffer[] = [];
  for (const line of lines) if (await mayPass(line)) passed.push(line);
  return signal.aborted ? [] : passed;
}

/** A line of ours, also where the host is in the middle of one that began for a former process. */
function say(server: LineWriter, ...pieces: readonly Uint8Array[]): void {
  server.insert(Buffer.concat(pieces).toString('utf8').trimEnd());
}

function subscribedUri(line: Buffer): string | null {
  const { params } = JSON.parse(line.toString('utf8')) as { readonly params?: { readonly uri?: unknown } };
  return typeof params?.uri === 'string' ? params.uri : null;
}
