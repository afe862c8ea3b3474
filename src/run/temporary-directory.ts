import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';

/** Room that the names in the directory need within the 103 bytes of a socket's path (107 on Linux). */
const MAX_BYTES = 90;

/** As os.tmpdir() has it. */
export function systemTemporaryDirectory(): string {
  const { TMPDIR, TMP, TEMP } = process.env;
  const directory = TMPDIR || TMP || TEMP || '/tmp';
  return directory.length > 1 && directory.endsWith('/') ? directory.slice(0, -1) : directory;
}

/** A new directory (0700) for a moment, with a path short enough for a socket. Throws where none can be made. */
export function makeTemporaryDirectory(): string {
  const places = [process.env.XDG_RUNTIME_DIR, systemTemporaryDirectory(), '/tmp'].filter((place) =>
    place?.startsWith('/'),
  );
  let fault: unknown;
  for (const place of places) {
    if (place === undefined || Buffer.byteLength(place) > MAX_BYTES - 'rootsd-XXXXXX'.length) continue;
    try {
      return mkdtempSync(join(place, 'rootsd-'));
    } catch (error) {
      fault = error;
    }
  }
  throw fault;
}
