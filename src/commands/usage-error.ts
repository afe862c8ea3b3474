import { RootsError } from '../core/errors.ts';

/** What a library's parser says of a command line, with its advice at the end. */
const PARSER_MESSAGE =
  /^(?:error: )?(?<what>.*?)(?:\.|\. (?<rule>(?:Allowed|Expected) .*)\.|\n\((?<near>Did you mean .*\?)\))?$/s;

/** The parser's complaint as ours is worded: `error: unknown option '--wach'\n(Did you mean --watch?)`. */
export function usageErrorOf(message: string): RootsError {
  const { what = message, rule, near } = PARSER_MESSAGE.exec(message)?.groups ?? {};
  const hint = near ?? rule ?? 'Try "rootsd help"';
  return new RootsError('USAGE', { what: `Cannot read the command line: ${inDoubleQuotes(what)}` }, { hint });
}

function inDoubleQuotes(text: string): string {
  return text.replace(/'([^']*)'/g, '"$1"');
}
