// The YAML that most policies are written in, read in one pass: block maps and lists, flow maps and lists, texts of one line,
// comments. That takes a small part of the time that a parser for all of YAML takes, which is most of that of a large policy.
//
// INVARIANT: what it reads, it reads as parse-yaml.ts does without it, value by value and place by place. Whatever may have a
// fault, or may mean something else than it looks, it leaves alone: faults are found by one reader only.

import { lineEnd, type Range, type SourceText } from './source-text.ts';
import { FORBIDDEN_KEYS, type Location, type Pointer, pointerTo, type YamlFile } from './yaml-file.ts';

/** Nobody writes deeper, and the other reader goes deeper than that. */
const MAX_DEPTH = 12;
/** Far shorter than a key may be. */
const KEY = /[A-Za-z][\w./-]{0,200}(?=:(?:[ \n]|$))/y;
/** A text that is not quoted begins so, and goes on to the end of the line or of its place in a flow. */
const START = /[^\s\-?:,[\]{}#&*!|>'"%@`]|-[A-Za-z-]/y;
const BLOCK_TEXT = /[^\n]*/y;
const FLOW_TEXT = /[^\n,[\]{}]*/y;
const AFTER_BLOCK_TEXT = / +(?:#.*)?$/;
const AFTER_FLOW_TEXT = / +$/;
/** Escapes and a quote in a text that it quotes are left alone. */
const QUOTED = /"[^"\\\n]*"|'[^'\n]*'/y;
const WHOLE_NUMBER = /^(?:0|[1-9]\d{0,14})$/;
/** What is a number here has only such characters, but not every word that has is one. */
const LIKE_NUMBER = /^[-+]?\.?(?:\d[\d.xoa-f+-]*|inf|nan)$/i;
/** A key, or a comment in a flow, which could stand anywhere there. */
const RUNS_ON = /:(?: |$)| #/;
const LIKE_WORD = /^(?:~|null|true|false)$/i;

const BLANK = 0x20;

/** Where a value stands. */
interface Place {
  readonly pointer: Pointer;
  readonly key?: Range;
}

/** What stands there is not plain. Nothing that was read counts. */
class NotPlain extends Error {}

/** The text as values with their places; null where any of it is written in another way, well or not. */
export function readPlainYaml(source: SourceText): YamlFile | null {
  const reader = new PlainReader(source);
  try {
    const value = reader.readDocument();
    return { source, value, locations: reader.locations, reported: new Set() };
  } catch (error) {
    if (error instanceof NotPlain) return null;
    throw error;
  }
}

class PlainReader {
  readonly locations = new Map<Pointer, Location>();
  readonly #source: SourceText;
  readonly #text: string;
  #at = 0;
  /** The column at which the line's content begins, or what of it is left to read; -1: the text has ended. */
  #indent = -1;
  #depth = 0;

  constructor(source: SourceText) {
    this.#source = source;
    this.#text = source.text;
  }

  readDocument(): unknown {
    // Tabs and CR have rules of their own.
    if (/[\t\r]/.test(this.#text)) throw new NotPlain();
    this.#nextLine();
    if (this.#indent !== 0 || !this.#isAtKey()) throw new NotPlain();
    return this.#readMap(0, { pointer: '' });
  }

  /** Goes to the next line that has a content; #at is at its end before, or at its start. */
  #nextLine(): void {
    for (;;) {
      const start = this.#at;
      this.#skipBlanks();
      const next = this.#text.charAt(this.#at);
      if (next === '#') this.#at = this.#endOfLine();
      else if (next !== '\n') {
        this.#indent = next === '' ? -1 : this.#at - start;
        return;
      }
      this.#at += 1;
    }
  }

  /** Only blanks and a comment may be left of the line. */
  #endLine(): void {
    this.#skipBlanks();
    const next = this.#text.charAt(this.#at);
    if (next === '#' && this.#text.charAt(this.#at - 1) === ' ') this.#at = this.#endOfLine();
    else if (next !== '\n' && next !== '') throw new NotPlain();
    this.#at += 1;
    this.#nextLine();
  }

  #readMap(indent: number, place: Place): Record<string, unknown> {
    this.#enterBlock(place);
    const map: Record<string, unknown> = {};
    while (this.#indent === indent) {
      const [name, key] = this.#readKey(map);
      this.#skipBlanks();
      map[name] = this.#readBlockValue(indent, { pointer: pointerTo(place.pointer, name), key });
    }
    return this.#leaveBlock(indent, map);
  }

  #readList(indent: number, place: Place): unknown[] {
    this.#enterBlock(place);
    const list: unknown[] = [];
    while (this.#indent === indent && this.#isAtItem()) {
      const lineStart = this.#at - indent;
      this.#at += 1;
      this.#skipBlanks();
      const item = { pointer: pointerTo(place.pointer, list.length) };
      list.push(this.#isAtKey() ? this.#readMapAt(this.#at - lineStart, item) : this.#readRestOfLine(indent, item));
    }
    return this.#leaveBlock(indent, list);
  }

  /** A map that begins in this line goes on at its column in others. */
  #readMapAt(column: number, place: Place): Record<string, unknown> {
    this.#indent = column;
    return this.#readMap(column, place);
  }

  #readBlockValue(indent: number, place: Place): unknown {
    const next = this.#text.charAt(this.#at);
    if (next !== '\n' && next !== '#') return this.#readRestOfLine(indent, place);
    this.#endLine();
    if (this.#isAtItem() && this.#indent >= indent) return this.#readList(this.#indent, place);
    if (this.#indent <= indent) throw new NotPlain();
    return this.#isAtKey() ? this.#readMap(this.#indent, place) : this.#readRestOfLine(indent, place);
  }

  /** What goes on in a line further to the right than `indent` would be one with it. */
  #readRestOfLine(indent: number, place: Place): unknown {
    const value = this.#readInline(BLOCK_TEXT, indent, place);
    this.#endLine();
    if (this.#indent > indent) throw new NotPlain();
    return value;
  }

  /** Of a block that goes on over lines the first one is its place. */
  #enterBlock(place: Place): void {
    this.#enter();
    this.#note(place, [this.#at, lineEnd(this.#source, this.#at)]);
  }

  #leaveBlock<T>(indent: number, block: T): T {
    if (this.#indent > indent) throw new NotPlain();
    this.#depth -= 1;
    return block;
  }

  #enter(): void {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new NotPlain();
  }

  #readInline(text: RegExp, indent: number, place: Place): unknown {
    const start = this.#at;
    const next = this.#text.charAt(start);
    if (next === '{') return this.#readFlowMap(indent, place);
    if (next === '[') return this.#readFlowList(indent, place);
    if (next === '"' || next === "'") return this.#readQuoted(place);
    this.#match(START);
    const word = this.#match(text).replace(text === BLOCK_TEXT ? AFTER_BLOCK_TEXT : AFTER_FLOW_TEXT, '');
    this.#at += word.length;
    this.#note(place, [start, this.#at]);
    return plainValue(word);
  }

  #readQuoted(place: Place): string {
    const quoted = this.#match(QUOTED);
    this.#note(place, [this.#at, this.#at + quoted.length]);
    this.#at += quoted.length;
    return quoted.slice(1, -1);
  }

  #readFlowMap(indent: number, place: Place): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    this.#readFlow('}', { indent, place }, () => {
      const [name, key] = this.#readKey(map);
      this.#skipInFlow(indent);
      map[name] = this.#readInline(FLOW_TEXT, indent, { pointer: pointerTo(place.pointer, name), key });
    });
    return map;
  }

  #readFlowList(indent: number, place: Place): unknown[] {
    const list: unknown[] = [];
    this.#readFlow(']', { indent, place }, () => {
      list.push(this.#readInline(FLOW_TEXT, indent, { pointer: pointerTo(place.pointer, list.length) }));
    });
    return list;
  }

  #readFlow(
    close: string,
    { indent, place }: { readonly indent: number; readonly place: Place },
    readOne: () => void,
  ): void {
    this.#enter();
    const start = this.#at;
    this.#at += 1;
    this.#skipInFlow(indent);
    if (this.#text.charAt(this.#at) === close) this.#at += 1;
    else {
      do {
        this.#skipInFlow(indent);
        readOne();
        this.#skipInFlow(indent);
      } while (this.#separator(close));
    }
    this.#note(place, [start, Math.min(this.#at, lineEnd(this.#source, start))]);
    this.#depth -= 1;
  }

  /** Does another one follow? */
  #separator(close: string): boolean {
    const next = this.#text.charAt(this.#at);
    if (next !== ',' && next !== close) throw new NotPlain();
    this.#at += 1;
    return next === ',';
  }

  /** A flow may go on in lines further to the right than what it is in. */
  #skipInFlow(indent: number): void {
    this.#skipBlanks();
    while (this.#text.charAt(this.#at) === '\n') {
      this.#at += 1;
      const lineStart = this.#at;
      this.#skipBlanks();
      if (this.#at - lineStart <= indent) throw new NotPlain();
    }
  }

  /** Reads a key and its colon. */
  #readKey(map: object): readonly [name: string, range: Range] {
    const name = this.#match(KEY);
    if (Object.hasOwn(map, name) || FORBIDDEN_KEYS.has(name) || typeof plainValue(name) !== 'string')
      throw new NotPlain();
    const start = this.#at;
    this.#at += name.length + 1;
    return [name, [start, start + name.length]];
  }

  #isAtKey(): boolean {
    KEY.lastIndex = this.#at;
    return KEY.test(this.#text);
  }

  #isAtItem(): boolean {
    return this.#text.startsWith('- ', this.#at);
  }

  /** What stands here; goes no further. */
  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.#text) ?? [];
    if (found === undefined) throw new NotPlain();
    return found;
  }

  #note({ pointer, key }: Place, value: Range): void {
    this.locations.set(pointer, key === undefined ? { value } : { key, value });
  }

  #skipBlanks(): void {
    while (this.#text.charCodeAt(this.#at) === BLANK) this.#at += 1;
  }

  #endOfLine(): number {
    const end = this.#text.indexOf('\n', this.#at);
    return end === -1 ? this.#text.length : end;
  }
}

function plainValue(word: string): unknown {
  if (word === 'true' || word === 'false') return word === 'true';
  if (WHOLE_NUMBER.test(word)) return Number(word);
  if (LIKE_WORD.test(word) || LIKE_NUMBER.test(word) || RUNS_ON.test(word)) throw new NotPlain();
  return word;
}
