// One direction: bytes come in, lines are judged, bytes go out. A run of lines that pass is one write, of the very bytes
// that came. A line longer than the chunk it begins in passes as it comes where its first bytes decide; else it is held.

import type { ByteSource } from './bytes.ts';
import { HeldLine } from './held-line.ts';
import type { LineWriter } from './line-writer.ts';
import { EDGE_BYTES } from './message-edges.ts';

const LINE_FEED = 0x0a;
const NOTHING = Buffer.alloc(0);
/** A line is judged by its first bytes once this many are here; shorter ones are judged whole. */
const OPENING_BYTES = 16_384;
/** The longest line that is held; what passes as it comes has no limit. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;

/** `wait`: stop before this line until resume(). Pieces of bytes, the last not empty: pass these in its place. */
export type Verdict = 'pass' | 'drop' | 'wait' | readonly Uint8Array[];
/** A function: pass the line as it comes, and call this with its last bytes. */
export type Opening = 'hold' | 'wait' | ((tail: Buffer) => void);

export interface Judge {
  /**
   * Judges a whole line, its line end included (the last line of all may have none). `isOurs`: its bytes are nobody else's
   * and can be kept, where other pieces are given in its place; else they are valid only until they are written.
   */
  line(line: Buffer, isOurs: boolean): Verdict;
  /** Judges a long line by its first bytes. */
  opening(head: Buffer): Opening;
  ended(): void;
  /** A line that must be held has more than 64 MiB; its first bytes. */
  tooLong(head: Buffer): void;
}

export class LineFlow {
  readonly #source: ByteSource;
  readonly #writer: LineWriter;
  /** Takes our answers to what this direction asks: when it is full, this direction stops. */
  readonly #answers: LineWriter;
  readonly #judge: Judge;
  readonly #stopListening: readonly (() => void)[];
  #rest: Buffer = NOTHING;
  readonly #held = new HeldLine();
  #mustHold = false;
  #passing: ((tail: Buffer) => void) | null = null;
  #tail: Buffer = NOTHING;
  #isPaused = false;
  /** Was a line told to wait, and may it be judged otherwise by now? */
  #isWaiting = false;
  #isDue = false;
  #received = 0;
  #isClosed = false;

  constructor(source: ByteSource, { to, answers, judge }: { to: LineWriter; answers: LineWriter; judge: Judge }) {
    this.#source = source;
    this.#writer = to;
    this.#answers = answers;
    this.#judge = judge;
    this.#stopListening = [to, answers].map((writer) => writer.onFree(() => this.#freed()));
  }

  /** Does it wait for somebody to read, or for resume()? */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Bytes that have come. */
  get received(): number {
    return this.#received;
  }

  start(): void {
    const take = (chunk: Buffer): boolean => {
      this.#received += chunk.length;
      return this.#take(chunk);
    };
    this.#source.start({ take, ended: () => this.#end() });
  }

  /** Goes on where it stopped, if it may: what was told to wait is judged again. */
  resume(): void {
    this.#isDue = true;
    if (!this.#isPaused || this.#isClosed || !this.#mayRead()) return;
    this.#isPaused = false;
    this.#held.reclaim();
    if (this.#rest.length > 0 && !this.#take(this.#rest)) return;
    this.#source.resume();
  }

  /** Reads nothing more. */
  close(): void {
    this.#isClosed = true;
    this.#source.close();
    for (const stop of this.#stopListening) stop();
  }

  /** That somebody reads is no reason to judge a line anew, which may have to be parsed for it. */
  #freed(): void {
    if (!this.#isWaiting || this.#isDue) this.resume();
  }

  #mayRead(): boolean {
    return this.#writer.free && this.#answers.hasRoom;
  }

  #take(chunk: Buffer): boolean {
    const consumed = this.#advance(chunk);
    this.#rest = part(chunk, consumed, chunk.length);
    this.#isPaused = consumed < chunk.length || !this.#mayRead();
    return !this.#isPaused;
  }

  /** Works through a chunk; returns how many of its bytes are done with. */
  #advance(chunk: Buffer): number {
    let runStart = 0;
    let at = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, at)) {
      const next = end + 1;
      const line = part(chunk, at, next);
      if (this.#passing !== null) this.#finishPassing(line);
      else {
        const isHeld = this.#held.length > 0;
        const whole = this.#held.with(line);
        const verdict = this.#judgeLine(whole, isHeld);
        if (verdict !== 'pass' || isHeld) {
          this.#writer.pass(part(chunk, runStart, at), true);
          if (verdict === 'wait') return at;
          this.#deliver(verdict, whole);
          runStart = next;
        }
        if (!isHeld) this.#held.shrink();
      }
      at = next;
    }
    return this.#advancePartial(chunk, runStart, at);
  }

  /** The run before the last line end, and the line that has no end yet. */
  #advancePartial(chunk: Buffer, runStart: number, at: number): number {
    const partial = part(chunk, at, chunk.length);
    if (this.#passing === null) {
      this.#writer.pass(part(chunk, runStart, at), true);
      if (partial.length === 0) return at;
      const opening = this.#open(partial);
      if (opening === 'wait') return at;
      if (opening === 'hold') {
        this.#hold(partial);
        return chunk.length;
      }
      if (this.#held.length > 0) this.#writer.pass(this.#held.with(NOTHING), false);
      this.#release();
      this.#passing = opening;
    }
    this.#writer.pass(partial, false);
    this.#remember(partial);
    return chunk.length;
  }

  #open(partial: Buffer): Opening {
    if (this.#mustHold || this.#held.length + partial.length < OPENING_BYTES) return 'hold';
    const opening = this.#judge.opening(this.#held.with(partial.subarray(0, EDGE_BYTES)).subarray(0, EDGE_BYTES));
    this.#mustHold = opening === 'hold';
    return opening;
  }

  #hold(partial: Buffer): void {
    if (this.#held.length + partial.length <= MAX_HELD_BYTES) {
      this.#held.append(partial);
      return;
    }
    const head = Buffer.from(this.#held.with(partial.subarray(0, EDGE_BYTES)).subarray(0, EDGE_BYTES));
    this.#held.giveAway();
    this.close();
    this.#judge.tooLong(head);
  }

  #judgeLine(line: Buffer, isOurs: boolean): Verdict {
    this.#isDue = false;
    const verdict = this.#judge.line(line, isOurs);
    this.#isWaiting = verdict === 'wait';
    return verdict;
  }

  #deliver(verdict: Exclude<Verdict, 'wait'>, line: Buffer): void {
    const pieces = verdict === 'pass' ? [line] : verdict === 'drop' ? [] : verdict;
    for (const piece of pieces) this.#writer.pass(piece, piece === pieces.at(-1) && piece.at(-1) === LINE_FEED);
    // Who gives other pieces may have kept what they are made of.
    if (pieces === verdict) this.#held.giveAway();
    this.#release();
  }

  #release(): void {
    this.#held.clear(!this.#writer.free);
    this.#mustHold = false;
  }

  #finishPassing(last: Buffer): void {
    this.#remember(last);
    this.#passing?.(this.#tail);
    this.#passing = null;
    this.#tail = NOTHING;
  }

  /** Keeps the last bytes of a line that passes as it comes. */
  #remember(bytes: Buffer): void {
    const edge = bytes.subarray(-EDGE_BYTES);
    this.#tail =
      edge.length === EDGE_BYTES ? Buffer.from(edge) : Buffer.concat([this.#tail, edge]).subarray(-EDGE_BYTES);
  }

  #end(): void {
    if (this.#isClosed) return;
    if (this.#held.length > 0) {
      const last = this.#held.with(NOTHING);
      const verdict = this.#judgeLine(last, true);
      if (verdict === 'wait') {
        // The source ends again when it is resumed.
        this.#isPaused = true;
        return;
      }
      this.#deliver(verdict, last);
    }
    this.#isClosed = true;
    this.#judge.ended();
  }
}

/** Most chunks are one line: of these nothing new is made. */
function part(chunk: Buffer, start: number, end: number): Buffer {
  if (start === end) return NOTHING;
  return start === 0 && end === chunk.length ? chunk : chunk.subarray(start, end);
}
