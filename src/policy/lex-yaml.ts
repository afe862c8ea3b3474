// The tokens of a YAML text: what the language allows and a policy does not is found here, at its exact place.
//
// INVARIANT: nothing is composed from a text that nests deeper than MAX_DEPTH. The composer recurses, and a process
// that runs out of stack inside a regular expression dies without an exception.

import { CST, Lexer, Parser } from 'yaml';
import type { Code, Params, Problem } from '../core/errors.ts';
import { ProblemList } from './problem-list.ts';
import { clip, type SourceText } from './source-text.ts';

const MAX_DEPTH = 40;
const KNOWN_TAG = /^!!(?:str|int|float|bool|null|map|seq)$/;
const BLANK = new Set(['space', 'newline', 'comment', 'doc-mode', 'flow-error-end']);
/** What may follow a quoted text on its line. */
const AFTER_QUOTE = new Set([...BLANK, 'comma', 'flow-map-end', 'flow-seq-end', 'map-value-ind', 'doc-end']);

export interface LexedYaml {
  /** null: not to be composed. */
  readonly tokens: readonly CST.Token[] | null;
  readonly problems: readonly Problem[];
  /** Syntax errors from this offset on only follow from a problem above. */
  readonly cutoff: number;
}

/** Cuts a text into tokens and reports all that is refused at this level. */
export function lexYaml(source: SourceText): LexedYaml {
  const scan = new Scan(source);
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  for (const lexeme of new Lexer().lex(source.text)) {
    if (!scan.see(lexeme, parser.offset)) break;
    tokens.push(...parser.next(lexeme));
    if (parser.stack.length > MAX_DEPTH) {
      scan.report('YAML_DEPTH', parser.offset - lexeme.length, lexeme.length, { limit: MAX_DEPTH });
      return scan.result(null);
    }
  }
  tokens.push(...parser.end());
  return scan.result(scan.isFull ? null : tokens);
}

class Scan {
  readonly #problems: ProblemList;
  readonly #source: SourceText;
  #cutoff = Number.POSITIVE_INFINITY;
  #document: 'before' | 'inside' | 'after' = 'before';
  #indenting = true;
  #tab = -1;
  #scalarNext = false;
  /** A quoted text of several lines that has just ended: what follows tells whether its end was meant. */
  #quoted: { readonly offset: number; readonly quote: string } | null = null;

  constructor(source: SourceText) {
    this.#source = source;
    this.#problems = new ProblemList(source);
  }

  get isFull(): boolean {
    return this.#problems.isFull;
  }

  result(tokens: readonly CST.Token[] | null): LexedYaml {
    return { tokens, problems: this.#problems.all, cutoff: this.#cutoff };
  }

  report(code: Code, offset: number, length: number, params: Params = {}): void {
    this.#problems.add(code, [offset, offset + length], params);
  }

  /** Looks at one lexeme; false: the one document ends before it. */
  see(lexeme: string, offset: number): boolean {
    const kind = this.#kindOf(lexeme);
    if (!this.#seeDocument(kind, lexeme, offset)) return false;
    this.#seeIndentation(kind, lexeme, offset);
    this.#seeQuoteEnd(kind);
    if (kind === 'anchor') this.report('YAML_ANCHOR', offset, lexeme.length, { text: clip(lexeme) });
    if (kind === 'alias') this.#seeAlias(lexeme, offset);
    if (kind === 'tag' && !KNOWN_TAG.test(lexeme)) {
      this.report('YAML_TAG', offset, lexeme.length, { text: clip(lexeme) });
    }
    if (kind === 'double-quoted-scalar' || kind === 'single-quoted-scalar') this.#seeQuote(lexeme, offset);
    return !this.isFull;
  }

  #kindOf(lexeme: string): string {
    if (this.#scalarNext) {
      this.#scalarNext = false;
      return 'plain-text';
    }
    const kind = CST.tokenType(lexeme) ?? 'unknown';
    this.#scalarNext = kind === 'scalar';
    return kind;
  }

  #seeDocument(kind: string, lexeme: string, offset: number): boolean {
    if (BLANK.has(kind)) return true;
    if (kind === 'directive-line') {
      if (!/^%YAML[ \t]+1\.2\s*$/.test(lexeme)) {
        this.report('YAML_DIRECTIVE', offset, lexeme.length, { text: clip(lexeme) });
      }
      return true;
    }
    const second =
      kind === 'doc-start' ? this.#document !== 'before' : this.#document === 'after' && kind !== 'doc-end';
    if (second) {
      this.report('YAML_SECOND_DOCUMENT', offset, kind === 'scalar' ? 1 : lexeme.length);
      return false;
    }
    if (kind === 'doc-end') this.#document = 'after';
    else this.#document = 'inside';
    return true;
  }

  #seeIndentation(kind: string, lexeme: string, offset: number): void {
    if (kind === 'newline') {
      this.#indenting = true;
      this.#tab = -1;
    } else if (kind === 'space' && this.#indenting) {
      const tab = lexeme.indexOf('\t');
      if (tab !== -1 && this.#tab === -1) this.#tab = offset + tab;
    } else if (kind !== 'flow-error-end' && kind !== 'doc-mode') {
      if (this.#tab !== -1 && kind !== 'comment') this.#reportTab(this.#tab);
      this.#indenting = false;
      this.#tab = -1;
    }
  }

  #reportTab(offset: number): void {
    this.report('YAML_TAB', offset, 1);
    this.#cutAt(offset);
  }

  #seeAlias(lexeme: string, offset: number): void {
    const bare = !this.#source.text.includes(`&${lexeme.slice(1)}`) || lexeme === '*';
    this.report(bare ? 'YAML_STAR' : 'YAML_ALIAS', offset, lexeme.length, { text: clip(lexeme) });
  }

  #seeQuote(lexeme: string, offset: number): void {
    const quote = lexeme.charAt(0);
    if (!isClosed(lexeme)) this.#reportQuote(offset, quote);
    else if (lexeme.includes('\n')) this.#quoted = { offset, quote };
  }

  /** `"a` … `b: "c"`: the text ran on to the next quote; what stands right behind that one gives it away. */
  #seeQuoteEnd(kind: string): void {
    if (this.#quoted === null || kind === 'space') return;
    if (!AFTER_QUOTE.has(kind)) this.#reportQuote(this.#quoted.offset, this.#quoted.quote);
    this.#quoted = null;
  }

  #reportQuote(offset: number, quote: string): void {
    this.report('YAML_QUOTE', offset, 1, { quote });
    this.#cutAt(offset);
  }

  #cutAt(offset: number): void {
    this.#cutoff = Math.min(this.#cutoff, offset);
  }
}

/** Does a quoted text end with the quote that ends it? */
function isClosed(lexeme: string): boolean {
  const body = lexeme.slice(1, -1);
  if (lexeme.length < 2 || !lexeme.endsWith(lexeme.charAt(0))) return false;
  return lexeme.startsWith("'") ? !body.replaceAll("''", '').includes("'") : !/(?<!\\)(?:\\\\)*\\$/.test(body);
}
