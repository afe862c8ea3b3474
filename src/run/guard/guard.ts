// Paths in what the host asks are held against the boundary, and the server sees only what may pass. It is discipline, not
// a jail: only what a call says is seen, not what the server then does, and the disk may change in between.

import type { Timer } from '../../client/timer.ts';
import { shownText } from '../../core/allowed-text.ts';
import {
  type AccessRequest,
  areModern,
  type BoundaryEntry,
  type LaunchPlan,
  MAX_WANTS,
  NAMES_PLACES,
  type RefusedCall,
  type WireOffer,
} from '../../core/protocol.ts';
import { operatingSystem } from '../../disk/operating-system.ts';
import type { Message } from '../message.ts';
import { Answers } from './answers.ts';
import type { NotGiven } from './held-places.ts';
import { type Lacking, PathJudge } from './judge-path.ts';
import { KnownTools } from './known-tools.ts';
import { LongWork } from './long-work.ts';
import { isText, type NamedPath, namedPaths, type Reading } from './named-paths.ts';
import { mayHoldNeedle } from './needles.ts';
import { foldName, namesWorkplace } from './path-names.ts';
import { type JsonObject, memberInAnyCase, readAlike } from './read-alike.ts';
import {
  NOTHING_WRITABLE,
  type RefusedPath,
  refusalText,
  refusedCall,
  refusedRequest,
  unreadableMessage,
  writeRefusalText,
} from './refused-call.ts';

/** Parameters about the message, answers of the host to the server's questions, and what the server has written itself. */
const NOT_ARGUMENTS: ReadonlySet<string> = new Set(['_meta', 'inputResponses', 'requestState']);
/** Calls that wait for a person. Nobody is asked for what is only being typed. */
const ASKS: ReadonlySet<string> = new Set([...NAMES_PLACES].filter((method) => method !== 'completion/complete'));

/** `wait`: to be judged again when the guard says so. Else the server must not see it; `reply` answers in its place. */
export type Judgement = 'pass' | 'wait' | { readonly reply: string | null };

/** All that a person must give before a call may pass. */
export interface Asking {
  readonly wants: AccessRequest['wants'];
}

export interface GuardOptions {
  readonly timer: Timer;
  readonly cwd: () => string;
  /** What was told to wait may be judged again. */
  readonly onAnswer: () => void;
  /** A call is held back. */
  readonly onRefused: (call: Omit<RefusedCall, 'left'>) => void;
  /** What `~` may mean; tests name their own. */
  readonly homes?: readonly string[];
}

export type GuardPlan = Pick<LaunchPlan, 'guard' | 'paths' | 'relativePaths' | 'tools'>;

/** Of one call so many places are looked at: at the most some seconds, in slices. */
const MAX_PLACES = 50_000;

export class Guard {
  readonly tools = new KnownTools();
  readonly answers: Answers;
  readonly #options: GuardOptions;
  readonly #paths: PathJudge;
  readonly #work: LongWork<Judgement | NotAllowed>;
  #plan: GuardPlan = { guard: 'on', paths: [], relativePaths: 'pass', tools: {} };
  /** Of properties that the plan says hold paths, folded. */
  #pathNames: ReadonlySet<string> = new Set();

  constructor(options: GuardOptions) {
    this.#options = options;
    this.#paths = new PathJudge(options);
    this.#work = new LongWork(options.onAnswer);
    this.answers = new Answers({
      learnTools: (result) => this.tools.learn(result),
      mayShow: (text) => this.#mayShow(text),
      onReady: options.onAnswer,
    });
  }

  /** From now on this holds; `offers`: what a person could give beyond. */
  update(plan: GuardPlan, entries: readonly BoundaryEntry[], offers: readonly WireOffer[] = []): void {
    this.#plan = plan;
    this.#pathNames = new Set(plan.paths.map(foldName));
    this.#paths.update(entries, offers);
    this.#work.drop();
    this.answers.judgeAnew();
  }

  get isOn(): boolean {
    return this.#plan.guard !== 'off';
  }

  /** Must a call of this method be read whole? */
  judges(method: string): boolean {
    return this.isOn && NAMES_PLACES.has(method);
  }

  /** Judges a whole line of the host, or one member of a batch, which may pass once a person gives what it names. */
  consider(line: Buffer, message: Message): Judgement | Asking {
    const judged = this.#judgeLine(line, message);
    if (typeof judged === 'string' || 'reply' in judged) return judged;
    const mayAsk = message.kind === 'call' && judged.id !== null && ASKS.has(judged.method);
    const wants = mayAsk ? wantsOf(judged.lacking) : [];
    if (wants.length === 0) return this.#refuse(judged, null);
    return wants.length > MAX_WANTS ? this.#refuse(judged, 'too-many') : { wants };
  }

  /** The same where nobody is asked, or nobody has given it: `notGiven` says why. */
  judge(line: Buffer, message: Message, notGiven: NotGiven | null = null): Judgement {
    const judged = this.#judgeLine(line, message);
    return typeof judged === 'string' || 'reply' in judged ? judged : this.#refuse(judged, notGiven);
  }

  /** May a line that has passed once be said again? Nobody has called where it may not: it is not told. */
  mayPassAgain(line: Buffer, message: Message): boolean | 'wait' {
    const judged = this.#judgeLine(line, message);
    return judged === 'wait' ? 'wait' : judged === 'pass';
  }

  /** The line waits no longer: what the disk said held for it alone. */
  lineIsDone(): void {
    this.#paths.lineIsDone();
    this.#work.forgetTaken();
  }

  close(): void {
    this.#paths.close();
    this.#work.close();
    this.answers.close();
  }

  #judgeLine(line: Buffer, message: Message): Judgement | NotAllowed {
    if (!this.isOn || !mayBeJudged(line, message)) return 'pass';
    return this.#work.do(line, () => this.#judgeInSteps(line, message));
  }

  *#judgeInSteps(line: Buffer, message: Message): Generator<void, Judgement | NotAllowed> {
    const read = readAlike(line, (property) => isText(property, this.#pathNames));
    const id = 'id' in message ? message.id : 'null';
    if (!read.ok) return { reply: message.kind === 'answer' || id === null ? null : unreadableMessage(id, read.why) };
    const [method, params] = ['method', 'params'].map((name) => memberInAnyCase(read.value, name));
    if (typeof method !== 'string' || !NAMES_PLACES.has(method)) return 'pass';
    if (typeof params !== 'object' || params === null) return 'pass';
    for (;;) {
      const judged = yield* this.#judgeParams(method, params);
      if (typeof judged !== 'string') return { ...judged, id, method, params };
      // What was asked first may be answered by now, and nobody says so again.
      if (judged !== 'wait' || this.#paths.isAsking) return judged;
    }
  }

  *#judgeParams(
    method: string,
    params: object,
  ): Generator<void, Omit<NotAllowed, 'id' | 'method' | 'params'> | 'pass' | 'wait'> {
    const tool = method === 'tools/call' ? nameOf(params) : null;
    const writes = method === 'tools/call' && (tool === null || this.#writes(tool));
    const reading = this.#reading(tool);
    const lacking: (RefusedPath & Lacking)[] = [];
    let places = 0;
    let mustWait = false;
    for (const named of namedIn(method, params, reading)) {
      places += named.candidates?.length ?? 1;
      if (places > MAX_PLACES) return { named: { ...named, objection: 'uncounted' }, lacking: [], tool, writes };
      const use = !writes ? 'read' : namesWorkplace(named.property) ? 'work' : 'write';
      const judged = yield* this.#paths.judge(named, use);
      if (judged === 'wait') mustWait = true;
      else if (typeof judged === 'string') return { named: { ...named, objection: judged }, lacking: [], tool, writes };
      else lacking.push(...judged.map((one) => ({ ...named, ...one })));
    }
    if (method === 'tools/call' && places === 0 && this.#writesUnnamed(tool)) {
      return { named: null, lacking, tool, writes };
    }
    if (mustWait) return 'wait';
    const [first] = lacking;
    return first === undefined ? 'pass' : { named: first, lacking, tool, writes };
  }

  #refuse({ named, lacking, id, method, params, tool, writes }: NotAllowed, notGiven: NotGiven | null): Judgement {
    const isNotGiven = notGiven !== null && lacking.length > 0;
    const refused = named !== null && isNotGiven ? { ...named, objection: notGiven } : named;
    this.#options.onRefused(toldRefusal(method, { named: refused, tool, writes }));
    if (id === null) return { reply: null };
    const { entries } = this.#paths;
    const text = refused === null ? writeRefusalText(tool, entries) : refusalText(refused, entries);
    return { reply: replyTo(method, { id, params, text }) };
  }

  /**
   * A server that was told its directory by other means (a variable, a file) writes there without a call that says so. Of a
   * tool that nobody knows to write this is not assumed: most write nothing at all, and hosts call what they have listed in
   * another session.
   */
  #writesUnnamed(tool: string | null): boolean {
    if (this.#paths.holdsWritable) return false;
    const { tools } = this.#plan;
    return tool === null || (Object.hasOwn(tools, tool) && tools[tool] === 'write');
  }

  *#mayShow(text: string): Generator<void, boolean> {
    if (!this.isOn) return true;
    for (const { candidates } of namedPaths(text, { ...this.#reading(null), strict: true })) {
      for (const path of candidates ?? [text]) {
        if (!this.#paths.mayShow(path)) return false;
        yield;
      }
    }
    return true;
  }

  /** What the catalogue and the policy say counts before what the server says of itself. */
  #writes(tool: string): boolean {
    const { tools } = this.#plan;
    return Object.hasOwn(tools, tool) ? tools[tool] === 'write' : !this.tools.claimsReadOnly(tool);
  }

  #reading(tool: string | null): Reading {
    const { guard, relativePaths } = this.#plan;
    return {
      strict: guard === 'strict',
      pathNames: this.#pathNames,
      schema: this.tools.paths(tool),
      relativePaths,
      cwd: this.#options.cwd(),
      homes: this.#options.homes ?? [operatingSystem().homedir()],
    };
  }
}

interface Refused {
  /** null: the call names no place, and may write. */
  readonly named: RefusedPath | null;
  readonly tool: string | null;
  readonly writes: boolean;
}

/** A call that may not pass as things are; `lacking`: all that a person must give for it, where that is all it takes. */
interface NotAllowed extends Refused {
  readonly lacking: readonly Lacking[];
  /** A JSON text; null: a notification. */
  readonly id: string | null;
  readonly method: string;
  readonly params: object;
}

/** One place of each that would be given, with the highest access. */
function wantsOf(lacking: readonly Lacking[]): AccessRequest['wants'] {
  const wants = new Map<string, AccessRequest['wants'][number]>();
  for (const { offered, path, access } of lacking) {
    if (wants.get(offered)?.access !== 'read-write') wants.set(offered, { path, access });
  }
  return [...wants.values()];
}

function toldRefusal(method: string, { named, tool, writes }: Refused): Omit<RefusedCall, 'left'> {
  return {
    method,
    tool: tool === null ? null : shownText(tool),
    path: named === null ? null : shownText(named.value),
    access: writes ? 'read-write' : 'read-only',
    reason: named === null ? NOTHING_WRITABLE : named.objection,
  };
}

/** What is no message to us may be one to others. */
function mayBeJudged(line: Buffer, message: Message): boolean {
  if (message.kind === 'noise') return line.toString('latin1').trim() !== '';
  if (message.kind === 'call' && NAMES_PLACES.has(message.method)) return true;
  return mayHoldNeedle(line);
}

function* namedIn(method: string, params: object, reading: Reading): Generator<NamedPath> {
  for (const [name, value] of Object.entries(params)) {
    if (NOT_ARGUMENTS.has(name)) continue;
    if (method !== 'completion/complete') yield* namedPaths(value, reading, name);
    // What is completed is called by a name that stands beside it; `ref` names what asks, which may be a template.
    else if (name === 'argument') yield* namedPaths(value?.value, reading, String(value?.name));
    else if (name !== 'ref' || !String(value?.uri).includes('{')) yield* namedPaths(value, reading, name);
  }
}

function replyTo(method: string, { id, params, text }: { id: string; params: unknown; text: string }): string {
  if (method !== 'tools/call') return refusedRequest(id, text);
  return refusedCall(id, { text, isModern: typeof params === 'object' && params !== null && areModern(params) });
}

function nameOf(params: object): string | null {
  const name = memberInAnyCase(params as JsonObject, 'name');
  return typeof name === 'string' ? name : null;
}
