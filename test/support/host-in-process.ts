// A host within this process, and what a RunSession attaches to: a test sets the view, and sees the acknowledgements.

import { Writable } from 'node:stream';
import type { Attachment, Heard } from '../../src/client/attach.ts';
import { JsonLineReader } from '../../src/client/json-lines.ts';
import type { LaunchPlan, ViewMessage } from '../../src/core/protocol.ts';
import { UNKNOWN_SERVER } from '../../src/core/server-traits.ts';
import { type ByteReader, ByteSink, type ByteSource } from '../../src/run/bytes.ts';
import { VERSION } from '../../src/version.ts';
import type { FakeView } from './fake-daemon.ts';
import type { Json } from './run-host.ts';

export class HostInProcess {
  readonly source: ByteSource;
  readonly sink: ByteSink;
  readonly messages: Json[] = [];
  #reader: ByteReader | null = null;
  #isStopped = false;
  readonly #queue: Buffer[] = [];
  #waiting: { readonly matches: (message: Json) => boolean; readonly resolve: (message: Json) => void }[] = [];

  constructor() {
    const answers = new JsonLineReader((message) => this.#take(message as Json));
    this.source = {
      start: (reader) => {
        this.#reader = reader;
        this.#flow();
      },
      resume: () => {
        this.#isStopped = false;
        this.#flow();
      },
      close: () => undefined,
    };
    this.sink = new ByteSink(
      new Writable({
        write(chunk, _encoding, done) {
          answers.push(chunk);
          done();
        },
      }),
    );
  }

  send(message: Json): void {
    this.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  write(text: string): void {
    this.#queue.push(Buffer.from(text));
    this.#flow();
  }

  request(id: number, method: string, params: Json = {}): Promise<Json> {
    const answer = this.next((message) => message.id === id && message.method === undefined);
    this.send({ id, method, params });
    return answer;
  }

  /** The next message of that kind that comes. */
  next(matches: (message: Json) => boolean): Promise<Json> {
    return new Promise((resolve) => this.#waiting.push({ matches, resolve }));
  }

  async initialize(capabilities: Json = {}): Promise<void> {
    await this.request(1, 'initialize', { capabilities });
    this.send({ method: 'notifications/initialized' });
  }

  end(): void {
    this.#reader?.ended();
  }

  #take(message: Json): void {
    this.messages.push(message);
    const heard = this.#waiting.filter(({ matches }) => matches(message));
    this.#waiting = this.#waiting.filter((waiting) => !heard.includes(waiting));
    for (const { resolve } of heard) resolve(message);
  }

  /** Like a pipe: what is not taken waits. */
  #flow(): void {
    while (this.#reader !== null && !this.#isStopped) {
      const chunk = this.#queue.shift();
      if (chunk === undefined) return;
      this.#isStopped = !this.#reader.take(chunk);
    }
  }
}

const PLAN: LaunchPlan = {
  ...UNKNOWN_SERVER,
  roots: true,
  hostRoots: 'narrow',
  guard: 'on',
  policyFiles: [],
  policyFileCount: 0,
  policyDirectories: ['/etc/rootsd/policies.d'],
  policyState: 'ok',
  version: VERSION,
};

/** An attachment without a daemon. `socketDirectory` is where a tombstone is made first. */
export class AttachmentInProcess {
  view: ViewMessage;
  /** Serials that were acknowledged. */
  readonly acknowledged: number[] = [];
  /** What was said of the host's roots. */
  readonly hostRootsSeen: (readonly string[])[] = [];
  readonly result = { peer: { server: 'o' } };
  connected = true;
  readonly refusal = null;
  readonly socketPath: string;
  onView: (view: ViewMessage) => void = () => undefined;

  constructor(socketDirectory: string, view: FakeView) {
    this.socketPath = `${socketDirectory}/rootsd.sock`;
    this.view = { ...view, plan: PLAN, serial: 1 };
  }

  /** For RunSession. */
  readonly reach = async ({ onView }: Heard): Promise<Attachment> => {
    this.onView = onView;
    return this as unknown as Attachment;
  };

  publish(view: FakeView): void {
    this.view = { ...view, plan: PLAN, serial: this.view.serial + 1 };
    this.onView(this.view);
  }

  ack({ serial }: ViewMessage): void {
    this.acknowledged.push(serial);
  }

  hostRoots(uris: readonly string[]): void {
    this.hostRootsSeen.push(uris);
  }

  report(): void {}

  refused(): void {}

  close(): void {}
}
