import { VERSION } from '../version.ts';
import { EXIT, type Io, printJson, printLine } from './io.ts';

/** `rootsd version`. */
export async function versionCommand(options: { readonly format: string }, io: Io): Promise<number> {
  if (options.format === 'json') printJson(io, { version: VERSION, node: process.version });
  else printLine(io, `rootsd ${VERSION} (Node ${process.version})`);
  return EXIT.yes;
}
