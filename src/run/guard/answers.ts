// What the server answers to questions for lists: its tools are remembered, and what names a place outside is taken out of
// resources and completions, so that nobody is shown what a call would be refused.

import { applyEdits, elementsOf, memberOf, objectAt, objectOf } from '../splice.ts';

/** Requests whose answers are looked at. */
const WATCHED = ['tools/list', 'resources/list', 'completion/complete'] as const;
type Watched = (typeof WATCHED)[number];

export interface AnswersOptions {
  /** Takes the result of `tools/list`. */
  readonly learnTools: (result: unknown) => void;
  /** May the host be shown this text, a path or URI? */
  readonly mayShow: (text: string) => boolean;
}

export class Answers {
  readonly #options: AnswersOptions;
  /** By the id (a JSON text) of the request. */
  readonly #open = new Map<string, Watched>();

  constructor(options: AnswersOptions) {
    this.#options = options;
  }

  /** A request passes to the server. */
  expect(method: string, id: string): void {
    const watched = WATCHED.find((one) => one === method);
    if (watched === undefined) this.#open.delete(id);
    else this.#open.set(id, watched);
  }

  /** Must an answer with this id (null: not known yet) be held whole? */
  concerns(id: string | null): boolean {
    return id === null ? this.#open.size > 0 : this.#open.has(id);
  }

  /** The process is gone, and answers nothing more. */
  forget(): void {
    this.#open.clear();
  }

  /** What the host gets of an answer: the line in pieces, or null where it passes as it is. */
  judge(id: string, line: Buffer): readonly Uint8Array[] | null {
    const method = this.#open.get(id);
    if (method === undefined) return null;
    this.#open.delete(id);
    const { mayShow, learnTools } = this.#options;
    switch (method) {
      case 'tools/list':
        learnTools(parse(line)?.result);
        return null;
      case 'resources/list':
        return withoutElements(line, ['result', 'resources'], (element) => {
          const { uri } = (parse(element) ?? {}) as { readonly uri?: unknown };
          return typeof uri !== 'string' || mayShow(uri);
        });
      case 'completion/complete':
        return withoutElements(line, ['result', 'completion', 'values'], (element) => {
          const value = parse(element);
          return typeof value !== 'string' || mayShow(value);
        });
    }
  }
}

/** The line without the elements of an array that may not stay; null where all may, or there is no such array. */
function withoutElements(
  line: Buffer,
  path: readonly string[],
  mayStay: (element: Buffer) => boolean,
): readonly Uint8Array[] | null {
  const last = path.at(-1) ?? '';
  const holder = path
    .slice(0, -1)
    .reduce((open, key) => (open === -1 ? -1 : objectOf(line, memberOf(line, open, key))), objectAt(line));
  const array = holder === -1 ? undefined : memberOf(line, holder, last);
  if (array === undefined || line[array.start] !== OPEN_ARRAY) return null;
  const elements = elementsOf(line, array.start);
  const kept = elements.filter(mayStay);
  if (kept.length === elements.length) return null;
  const joined = kept.flatMap((element, i) => (i === 0 ? [element] : [COMMA, element]));
  return applyEdits(line, [{ ...array, bytes: Buffer.concat([Buffer.from('['), ...joined, Buffer.from(']')]) }]);
}

const OPEN_ARRAY = 0x5b;
const COMMA = Buffer.from(',');

/** undefined: no JSON. */
function parse(text: Buffer): { readonly result?: unknown } | undefined {
  try {
    return JSON.parse(text.toString('utf8')) as { readonly result?: unknown };
  } catch {
    return undefined;
  }
}
