// Text to values, as strict as docs/policy.md says. Pure: no disk, no state, and what it returns can be cloned to a worker.

import { Composer, type CST, type Document, isScalar, type YAMLError } from 'yaml';
import { type Code, type Problem, problem, startOf } from '../core/errors.ts';
import { checkText } from './decode-text.ts';
import { type LexedYaml, lexYaml } from './lex-yaml.ts';
import { readPlainYaml } from './plain-yaml.ts';
import { clip, positionOf, type SourceText } from './source-text.ts';
import type { YamlFile } from './yaml-file.ts';
import { readValues } from './yaml-value.ts';

export interface ParsedYaml {
  /** null: the text is no YAML; nothing can be said about its content. */
  readonly yaml: YamlFile | null;
  readonly source: SourceText;
  readonly problems: readonly Problem[];
}

/** Parses the text of a file. */
export function parseYaml(file: string, text: string): ParsedYaml {
  const { source, problems } = checkText(file, text);
  if (problems.length > 0) return { yaml: null, source, problems };
  const yaml = readPlainYaml(source);
  return yaml === null ? parseAnyYaml(source) : { yaml, source, problems };
}

/** The same however the text is written. */
export function parseAnyYaml(source: SourceText): ParsedYaml {
  const { file } = source;
  const lexed = lexYaml(source);
  if (lexed.tokens === null) return { yaml: null, source, problems: lexed.problems };
  const document = compose(lexed.tokens, source);
  const syntax = syntaxProblems(source, document, lexed);
  if (syntax.length > 0 || lexed.cutoff < Number.POSITIVE_INFINITY) {
    return { yaml: null, source, problems: [...lexed.problems, ...syntax] };
  }
  if (isEmpty(document)) {
    const empty = lexed.problems.length > 0 ? [] : [problem('YAML_EMPTY', startOf(file))];
    return { yaml: null, source, problems: [...lexed.problems, ...empty] };
  }
  const { problems: refused, ...yaml } = readValues(source, document);
  return { yaml, source, problems: [...lexed.problems, ...refused] };
}

function compose(tokens: readonly CST.Token[], source: SourceText): Document.Parsed {
  // uniqueKeys is quadratic and names one line; our own check is neither.
  const composer = new Composer({ version: '1.2', schema: 'core', merge: false, uniqueKeys: false });
  const [document] = composer.compose(tokens, true, source.text.length);
  if (document === undefined) throw new Error('A composer that is told to force a document made none');
  return document as Document.Parsed;
}

/** Nothing but blanks and comments, or the word null. */
function isEmpty({ contents }: Document.Parsed): boolean {
  return contents === null || (isScalar(contents) && contents.value === null);
}

/**
 * Of tokens that nobody expects, the first tells what happened; the others, up to the end of the file, follow from it.
 * What is a warning there is an error here.
 */
function syntaxProblems(source: SourceText, document: Document.Parsed, lexed: LexedYaml): Problem[] {
  const known = new Set(lexed.problems.map(({ line, column }) => `${line}:${column}`));
  const faults = [...document.errors, ...document.warnings]
    .filter((fault) => fault.pos[0] < lexed.cutoff && !isAboutAliases(fault))
    .sort((a, b) => a.pos[0] - b.pos[0]);
  return faults
    .filter(({ code }, i) => i === 0 || code !== 'UNEXPECTED_TOKEN')
    .map((fault) => syntaxProblem(source, fault))
    .filter(({ line, column }) => !known.has(`${line}:${column}`));
}

/** The lexer refuses them wherever they stand. */
function isAboutAliases({ code }: YAMLError): boolean {
  return code === 'BAD_ALIAS' || code === 'ALIAS_PROPS';
}

function syntaxProblem(source: SourceText, { code, pos, message }: YAMLError): Problem {
  const [start, end] = pos;
  const last = source.text.length;
  const at = positionOf(source, [Math.min(start, last), Math.min(Math.max(end, start), last)]);
  return problem(SYNTAX_CODES[code] ?? 'YAML_SYNTAX', at, { what: clip(message) });
}

/** Faults that have a cause and a remedy of their own. */
const SYNTAX_CODES: Readonly<Record<string, Code>> = {
  TAB_AS_INDENT: 'YAML_TAB',
  BAD_INDENT: 'YAML_INDENT',
  BAD_SCALAR_START: 'YAML_UNQUOTED_START',
  BLOCK_AS_IMPLICIT_KEY: 'YAML_UNQUOTED_COLON',
  UNEXPECTED_TOKEN: 'YAML_UNEXPECTED',
};
