// From the composed nodes of a YAML document to plain values, strictly: nothing is coerced, expanded or merged.
// What is refused here leaves a null in the value, so that the schema finds no second fault in it.

import { type Document, isAlias, isMap, isScalar, isSeq, type Pair, type ParsedNode, type Scalar } from 'yaml';
import type { Code, Params, Problem } from '../core/errors.ts';
import { ProblemList } from './problem-list.ts';
import { clip, lineEnd, lineOf, type Range, type SourceText } from './source-text.ts';
import { FORBIDDEN_KEYS, type Location, type Pointer, pointerTo, type YamlFile } from './yaml-file.ts';

type Node = ParsedNode | Pair<ParsedNode, ParsedNode | null> | null;

/** Turns a document into values with their places; collects what is refused. */
export function readValues(source: SourceText, document: Document.Parsed): YamlFile & { problems: readonly Problem[] } {
  const reader = new ValueReader(source, document);
  const value = reader.read(document.contents, '');
  return { source, value, locations: reader.locations, reported: reader.reported, problems: reader.problems };
}

class ValueReader {
  readonly #problems: ProblemList;
  readonly locations = new Map<Pointer, Location>();
  readonly reported = new Set<Pointer>();
  readonly #source: SourceText;
  readonly #document: Document.Parsed;

  constructor(source: SourceText, document: Document.Parsed) {
    this.#source = source;
    this.#problems = new ProblemList(source);
    this.#document = document;
  }

  get problems(): readonly Problem[] {
    return this.#problems.all;
  }

  read(node: Node, pointer: Pointer, key?: Range): unknown {
    const value = this.#rangeOf(node, key);
    this.locations.set(pointer, key === undefined ? { value } : { key, value });
    if (isMap<ParsedNode, ParsedNode | null>(node)) return this.#readMap(node.items, pointer);
    if (isSeq<ParsedNode>(node)) return node.items.map((item, i) => this.read(item, pointerTo(pointer, i)));
    if (isScalar(node)) return this.#readScalar(node, pointer, value);
    if (isAlias(node)) this.reported.add(pointer);
    else if (pointer !== '') this.#refuseNull(pointer, value, '');
    return null;
  }

  #rangeOf(node: Node, key: Range | undefined): Range {
    const range = node !== null && 'range' in node ? node.range : null;
    if (range === null || range === undefined) return key ?? [0, 0];
    const [start, end] = range;
    if (start === end) return key ?? [start, end];
    if (isMap(node) || isSeq(node)) return [start, Math.min(end, lineEnd(this.#source, start))];
    return [start, end];
  }

  #readMap(items: readonly Pair<ParsedNode, ParsedNode | null>[], pointer: Pointer): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    const seen = new Map<string, Range>();
    for (const { key, value } of items) {
      const name = this.#readKey(key);
      if (name === null) continue;
      const range = this.#rangeOf(key, undefined);
      const first = seen.get(name);
      if (first !== undefined) this.#refuseDuplicate(name, first, range);
      else if (FORBIDDEN_KEYS.has(name)) this.#report('YAML_FORBIDDEN_KEY', range, { key: name });
      else if (name === '<<' && isPlain(key)) this.#report('YAML_MERGE_KEY', range, { keys: this.#mergedKeys(value) });
      else map[name] = this.read(value, pointerTo(pointer, name), range);
      seen.set(name, first ?? range);
    }
    return map;
  }

  #readKey(key: ParsedNode): string | null {
    if (!isScalar(key)) {
      if (!isAlias(key)) this.#report('YAML_KEY_KIND', this.#rangeOf(key, undefined));
      return null;
    }
    if (typeof key.value === 'string') return key.value;
    const text = key.source ?? '';
    this.#report(text === '' ? 'YAML_KEY_KIND' : 'YAML_KEY', this.#rangeOf(key, undefined), { key: clip(text) });
    return text === '' ? null : text;
  }

  #readScalar(node: Scalar, pointer: Pointer, range: Range): unknown {
    const { value, source = '' } = node;
    if (value === null) {
      if (pointer !== '') this.#refuseNull(pointer, range, source);
      return null;
    }
    if (typeof value !== 'number') return value;
    const fault = numberFault(source, value);
    if (fault === null) return value;
    this.#report(fault, range, { text: clip(source) });
    this.reported.add(pointer);
    return null;
  }

  #refuseNull(pointer: Pointer, range: Range, text: string): void {
    this.#report(text === '' ? 'YAML_EMPTY_VALUE' : 'YAML_NULL', range, { text });
    this.reported.add(pointer);
  }

  #refuseDuplicate(key: string, first: Range, second: Range): void {
    const lines = { first: lineOf(this.#source, first[0]), second: lineOf(this.#source, second[0]) };
    this.#report('YAML_DUPLICATE_KEY', second, { key: clip(key), ...lines });
  }

  /** What a merge key stands for, written out; the admin can paste it. */
  #mergedKeys(value: ParsedNode | null): string {
    const target = isAlias(value) ? value.resolve(this.#document) : value;
    if (!isMap<ParsedNode, ParsedNode | null>(target)) return '…';
    const text = (node: ParsedNode | null): string =>
      node?.range ? clip(this.#source.text.slice(node.range[0], node.range[1])) : '';
    return clip(target.items.map((pair) => `${text(pair.key)}: ${text(pair.value)}`).join(', '), 300);
  }

  #report(code: Code, range: Range, params: Params = {}): void {
    this.#problems.add(code, range, params);
  }
}

function isPlain(node: ParsedNode): boolean {
  return isScalar(node) && node.type === 'PLAIN';
}

/** Our grammar knows whole numbers only, and only those that say what they mean. */
function numberFault(source: string, value: number): Code | null {
  if (/^[-+]?0\d/.test(source)) return 'YAML_LEADING_ZERO';
  if (/^[-+]?(?:\d|\.)[\d.]*(?:[eE]|\.|$)/.test(source) && !/^[-+]?\d+$/.test(source)) return 'YAML_FRACTION';
  if (!Number.isFinite(value)) return 'YAML_FRACTION';
  return Number.isSafeInteger(value) ? null : 'YAML_NUMBER_SIZE';
}
