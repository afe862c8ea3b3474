import { RootsError } from '../core/errors.ts';
import { SCHEMAS } from '../policy/schema.ts';
import { EXIT, type Io, printJson } from './io.ts';

/** `rootsd schema [policy|config|servers|project]`: the JSON Schema of a kind of file. */
export async function schemaCommand(kind: string, io: Io): Promise<number> {
  const schema = new Map<string, unknown>(Object.entries(SCHEMAS)).get(kind);
  if (schema === undefined) {
    const kinds = Object.keys(SCHEMAS).join(', ');
    throw new RootsError('USAGE', { what: `Cannot print a schema of "${kind}": it must be one of ${kinds}` });
  }
  printJson(io, schema);
  return EXIT.yes;
}
