// Paths in what the host asks are held against the boundary, and the server sees only what may pass. It is discipline, not
// a jail: only what a call says is seen, not what the server then does, and the disk may change in between.

import { homedir } from 'node:os';
import type { Timer } from '../../client/timer.ts';
import { shownText } from '../../core/allowed-text.ts';
import type { RealPath } from '../../core/path.ts';
import { areModern, type BoundaryEntry, type LaunchPlan, NAMES_PLACES, type RefusedCall } from '../../core/protocol.ts';
import type { Message } from '../message.ts';
import { Answers } from './answers.ts';
import { HeldPlaces, type Objection, type Use } from './held-places.ts';
import { KnownTools } from './known-tools.ts';
import { type NamedPath, namedPaths, type Reading } from './named-paths.ts';
import { foldName, namesWorkplace } from './path-names.ts';
import { Places } from './places.ts';
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

/** `wait`: to be judged again when the guard says so. Else the server must not see it; `reply` answers in its place. */
export type Judgement = 'pass' | 'wait' | { readonly reply: string | null };

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

export class Guard {
  readonly tools = new KnownTools();
  readonly answers = new Answers({
    learnTools: (result) => this.tools.learn(result),
    mayShow: (text) => !this.isOn || this.#mayShow(text),
  });
  readonly #options: GuardOptions;
  readonly #homes: readonly string[];
  #plan: GuardPlan = { guard: 'on', paths: [], relativePaths: 'pass', tools: {} };
  /** As long as nobody has said what may be used, nothing may. */
  #held = new HeldPlaces([]);
  #places: Places | null = null;

  constructor(options: GuardOptions) {
    this.#options = options;
    this.#homes = options.homes ?? [homedir()];
  }

  /** From now on this holds. */
  update(plan: GuardPlan, entries: readonly BoundaryEntry[]): void {
    this.#plan = plan;
    this.#held = new HeldPlaces(entries);
  }

  get isOn(): boolean {
    return this.#plan.guard !== 'off';
  }

  /** Must a call of this method be read whole? */
  judges(method: string): boolean {
    return this.isOn && NAMES_PLACES.has(method);
  }

  /** Judges a whole line of the host, or one member of a batch. */
  judge(line: Buffer, message: Message): Judgement {
    if (!this.isOn || !mayBeJudged(line, message)) return 'pass';
    const read = readAlike(line);
    const id = 'id' in message ? message.id : 'null';
    if (!read.ok) return { reply: message.kind === 'answer' || id === null ? null : unreadableMessage(id, read.why) };
    const [method, params] = ['method', 'params'].map((name) => memberInAnyCase(read.value, name));
    if (typeof method !== 'string' || !NAMES_PLACES.has(method)) return 'pass';
    const judged = this.#judgeParams(method, params);
    if (judged === null || judged === 'wait') return judged ?? 'pass';
    this.#options.onRefused(toldRefusal(method, judged));
    const { entries } = this.#held;
    const text = judged.named === null ? writeRefusalText(judged.tool, entries) : refusalText(judged.named, entries);
    return { reply: id === null ? null : replyTo(method, { id, params, text }) };
  }

  /** The line waits no longer: what the disk said held for it alone. */
  lineIsDone(): void {
    this.#places?.forgetAnswers();
  }

  close(): void {
    this.#places?.close();
  }

  #judgeParams(method: string, params: unknown): Refused | 'wait' | null {
    if (typeof params !== 'object' || params === null) return null;
    const tool = method === 'tools/call' ? nameOf(params) : null;
    const writes = method === 'tools/call' && (tool === null || this.#writes(tool));
    const reading = this.#reading(tool);
    let namesPlace = false;
    let mustWait = false;
    for (const named of namedIn(method, params, reading)) {
      namesPlace = true;
      const objection = this.#objectionTo(named, writes);
      if (objection === 'wait') mustWait = true;
      else if (objection !== null) return { named: { ...named, objection }, tool, writes };
    }
    if (method === 'tools/call' && !namesPlace && this.#writesUnnamed(tool)) return { named: null, tool, writes };
    return mustWait ? 'wait' : null;
  }

  /**
   * A server that was told its directory by other means (a variable, a file) writes there without a call that says so. Of a
   * tool that nobody knows to write this is not assumed: most write nothing at all, and hosts call what they have listed in
   * another session.
   */
  #writesUnnamed(tool: string | null): boolean {
    if (this.#held.holdsWritable) return false;
    const { tools } = this.#plan;
    return tool === null || (Object.hasOwn(tools, tool) && tools[tool] === 'write');
  }

  /** Nobody waits for what is only shown: where it leads on a mount that may hang, its text tells. */
  #mayShow(text: string): boolean {
    const reading = { ...this.#reading(null), strict: true };
    return [...namedPaths(text, reading)].every(({ candidates }) =>
      (candidates ?? [text]).every((path) => {
        const objection = this.#objectionToPath(path, 'read');
        return objection === 'wait' ? this.#held.objectionToText(path) === null : objection === null;
      }),
    );
  }

  /** What the catalogue and the policy say counts before what the server says of itself. */
  #writes(tool: string): boolean {
    const { tools } = this.#plan;
    return Object.hasOwn(tools, tool) ? tools[tool] === 'write' : !this.tools.claimsReadOnly(tool);
  }

  #reading(tool: string | null): Reading {
    const { guard, paths, relativePaths } = this.#plan;
    return {
      strict: guard === 'strict',
      pathNames: new Set(paths.map(foldName)),
      schemaNames: this.tools.pathNames(tool ?? ''),
      relativePaths,
      cwd: this.#options.cwd(),
      homes: this.#homes,
    };
  }

  /** Of all that it may mean the worst counts. */
  #objectionTo({ candidates, property }: NamedPath, writes: boolean): Objection | 'wait' | null {
    if (candidates === null) return 'ambiguous';
    const use = !writes ? 'read' : namesWorkplace(property) ? 'work' : 'write';
    let mustWait = false;
    for (const candidate of candidates) {
      const objection = this.#objectionToPath(candidate, use);
      if (objection === 'wait') mustWait = true;
      else if (objection !== null) return objection;
    }
    return mustWait ? 'wait' : null;
  }

  #objectionToPath(path: string, use: Use): Objection | 'wait' | null {
    const byText = this.#held.objectionToText(path);
    if (byText === 'carved') return 'carved';
    const found = this.#find(path);
    if (found === 'wait') return 'wait';
    const objection = found.ok ? this.#objectionToPlace(found.path, use) : found.isSilent ? 'silent' : 'outside';
    // What a link inside leads to is not told apart from what is not there.
    if (objection === 'outside' || (objection === 'silent' && byText === 'outside')) {
      return byText === 'outside' ? 'outside' : 'leads-outside';
    }
    return objection;
  }

  #objectionToPlace(place: RealPath, use: Use): Objection | null {
    const objection = this.#held.objectionTo(place, use);
    if (objection !== null) return objection;
    const isBound = this.#held.projectFilesIn(place, use).some((file) => this.#places?.mayBeThere(file) ?? true);
    return isBound ? 'project-file' : null;
  }

  #find(path: string): ReturnType<Places['find']> {
    const { timer, onAnswer } = this.#options;
    this.#places ??= new Places({ timer, onAnswer });
    return this.#places.find(path);
  }
}

interface Refused {
  /** null: the call names no place, and may write. */
  readonly named: RefusedPath | null;
  readonly tool: string | null;
  readonly writes: boolean;
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

/** A method's name may stand in the line as it is, or behind an escape; what is no message to us may be one to others. */
function mayBeJudged(line: Buffer, message: Message): boolean {
  if (message.kind === 'noise') return line.toString('latin1').trim() !== '';
  if (message.kind === 'call' && NAMES_PLACES.has(message.method)) return true;
  return [...NAMES_PLACES].some((method) => line.includes(method)) || line.includes('\\/') || line.includes('\\u00');
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
