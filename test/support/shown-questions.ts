// Somebody who sees what is asked, as `rootsd consent agent` does, and answers when a test says so.
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Question } from '../../src/core/question.ts';
import { connectPeer, type RawPeer } from '../socket/raw-peer.ts';
import type { TestHome } from './serve.ts';

export class ShownQuestions {
  readonly #peer: RawPeer;
  readonly withdrawn: string[] = [];

  static async open(t: TestContext, home: TestHome): Promise<ShownQuestions> {
    const peer = await connectPeer(t, join(dirname(home.socket), 'control.sock'));
    await peer.request('rootsd/consent/watch', {});
    return new ShownQuestions(peer);
  }

  private constructor(peer: RawPeer) {
    this.#peer = peer;
  }

  /** The next that is shown. */
  async next(): Promise<Question> {
    for (;;) {
      const { method, params } = await this.#peer.next();
      if (method === 'rootsd/consent/asked') return params.question;
    }
  }

  /** Waits until a question is shown no more; why. */
  async gone(): Promise<string> {
    for (;;) {
      const { method, params } = await this.#peer.next();
      if (method === 'rootsd/consent/withdrawn') return params.why;
    }
  }

  close(): void {
    this.#peer.socket.destroy();
  }
}
