// What the first and the last bytes of a line tell of the message in it, byte by byte: each message is looked at, and an
// expression takes longer to be compiled than all of the first message takes.

/** Ids are JSON texts that JSON.stringify() would give back as they are. `id` may still follow. */
export interface Head {
  readonly method: string | null;
  readonly id: string | null;
}

/** So many bytes of each end are looked at. */
export const EDGE_BYTES = 512;
/** A number of more is written otherwise by some. */
const MAX_DIGITS = 15;

const [LINE_FEED, CARRIAGE_RETURN, SPACE, QUOTE, COMMA, MINUS] = [0x0a, 0x0d, 0x20, 0x22, 0x2c, 0x2d];
const [ZERO, NINE, BACKSLASH, OPEN, CLOSE] = [0x30, 0x39, 0x5c, 0x7b, 0x7d];
/** How a result or an error begins: `{ [ "`, a digit, `null`, `true`, `false`. */
const VALUE_STARTS = Buffer.from('{["0123456789ntf');
const [ID_KEY, VERSION_KEY, RESULT_KEY, ERROR_KEY, METHOD_KEY] = ['id', 'jsonrpc', 'result', 'error', 'method'].map(
  (key) => Buffer.from(`"${key}":`),
) as [Buffer, Buffer, Buffer, Buffer, Buffer];
const VERSION = Buffer.from('"2.0"');

/**
 * Reads how a message begins as all that write JSON begin it: the version and the id in any order, then the result, the error
 * or the method, with at most one blank between. null: it does not begin so.
 */
export function readHead(line: Buffer): Head | null {
  return new HeadReader(line).read();
}

class HeadReader {
  readonly #line: Buffer;
  readonly #end: number;
  #at = 0;

  constructor(line: Buffer) {
    this.#line = line;
    this.#end = Math.min(line.length, EDGE_BYTES);
  }

  read(): Head | null {
    if (!this.#skip(OPEN)) return null;
    this.#skip(SPACE);
    this.#skipVersion();
    const id = this.#readIdMember();
    this.#skipVersion();
    if (this.#skipAll(METHOD_KEY)) return this.#readMethod(id);
    if (!this.#skipAll(RESULT_KEY) && !this.#skipAll(ERROR_KEY)) return null;
    this.#skip(SPACE);
    return this.#at < this.#end && VALUE_STARTS.includes(this.#line[this.#at] ?? 0) ? { method: null, id } : null;
  }

  #readMethod(idBefore: string | null): Head | null {
    this.#skip(SPACE);
    const start = this.#at;
    if (this.#line[start] !== QUOTE || !this.#skipId()) return null;
    const method = this.#line.toString('latin1', start + 1, this.#at - 1);
    this.#skip(SPACE);
    if (this.#skip(CLOSE)) return { method, id: idBefore };
    if (!this.#skip(COMMA)) return null;
    this.#skip(SPACE);
    const idBehind = this.#readIdBehind();
    return { method, id: idBefore ?? idBehind };
  }

  /** `"id":1,`, or nothing. */
  #readIdMember(): string | null {
    const start = this.#at;
    const id = this.#readId();
    if (id !== null && this.#skip(COMMA)) {
      this.#skip(SPACE);
      return id;
    }
    this.#at = start;
    return null;
  }

  #readIdBehind(): string | null {
    const id = this.#readId();
    this.#skip(SPACE);
    return this.#skip(COMMA) || this.#skip(CLOSE) ? id : null;
  }

  #readId(): string | null {
    if (!this.#skipAll(ID_KEY)) return null;
    this.#skip(SPACE);
    const start = this.#at;
    return this.#skipId() ? this.#line.toString('latin1', start, this.#at) : null;
  }

  #skipId(): boolean {
    const end = endOfId(this.#line, this.#at, this.#end);
    if (end === -1) return false;
    this.#at = end;
    return true;
  }

  #skipVersion(): void {
    const start = this.#at;
    if (this.#skipAll(VERSION_KEY)) {
      this.#skip(SPACE);
      if (this.#skipAll(VERSION) && this.#skip(COMMA)) {
        this.#skip(SPACE);
        return;
      }
    }
    this.#at = start;
  }

  #skipAll(bytes: Buffer): boolean {
    if (this.#at + bytes.length > this.#end || !hasAt(this.#line, this.#at, bytes)) return false;
    this.#at += bytes.length;
    return true;
  }

  #skip(byte: number): boolean {
    if (this.#at >= this.#end || this.#line[this.#at] !== byte) return false;
    this.#at += 1;
    return true;
  }
}

/** The id with which a line ends, the version behind it at most; or null. */
export function readTailId(line: Buffer): string | null {
  const start = Math.max(0, line.length - EDGE_BYTES);
  let end = line.length;
  if (line[end - 1] === LINE_FEED) end -= 1;
  if (line[end - 1] === CARRIAGE_RETURN) end -= 1;
  if (line[end - 1] !== CLOSE) return null;
  const idEnd = startOfBlank(line, startOfVersion(line, startOfBlank(line, end - 1)));
  const idStart = startOfId(line, idEnd, start);
  const keyEnd = startOfBlank(line, idStart);
  const before = startOfBlank(line, keyEnd - ID_KEY.length) - 1;
  if (before < start || !hasAt(line, keyEnd - ID_KEY.length, ID_KEY)) return null;
  if (line[before] !== COMMA && line[before] !== OPEN) return null;
  return endOfId(line, idStart, idEnd) === idEnd ? line.toString('latin1', idStart, idEnd) : null;
}

function startOfBlank(line: Buffer, end: number): number {
  return line[end - 1] === SPACE ? end - 1 : end;
}

/** Where `,"jsonrpc":"2.0"` begins that ends there; where it does not, that place. */
function startOfVersion(line: Buffer, end: number): number {
  const keyEnd = startOfBlank(line, end - VERSION.length);
  const comma = startOfBlank(line, keyEnd - VERSION_KEY.length) - 1;
  if (comma < 0 || line[comma] !== COMMA || !hasAt(line, keyEnd - VERSION_KEY.length, VERSION_KEY)) return end;
  return hasAt(line, end - VERSION.length, VERSION) ? comma : end;
}

/** Where the text or number may begin that ends there; endOfId() says whether it does. */
function startOfId(line: Buffer, end: number, from: number): number {
  let at = end - 1;
  if (line[at] === QUOTE) {
    do at -= 1;
    while (at > from && line[at] !== QUOTE);
    return at;
  }
  while (at > from && isDigit(line[at - 1])) at -= 1;
  return line[at - 1] === MINUS ? at - 1 : at;
}

/** Behind the id that begins there, or -1. */
function endOfId(line: Buffer, start: number, limit: number): number {
  let at = start;
  if (line[at] === QUOTE) {
    do at += 1;
    while (at < limit && isPlain(line[at] ?? 0));
    return at < limit && line[at] === QUOTE ? at + 1 : -1;
  }
  if (line[at] === MINUS) at += 1;
  const first = at;
  while (at < limit && isDigit(line[at])) at += 1;
  const digits = at - first;
  return digits === 0 || digits > MAX_DIGITS || (digits > 1 && line[first] === ZERO) ? -1 : at;
}

/** Printable ASCII that stands for itself within quotes. */
function isPlain(byte: number): boolean {
  return byte >= SPACE && byte <= 0x7e && byte !== QUOTE && byte !== BACKSLASH;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE;
}

function hasAt(line: Buffer, at: number, bytes: Buffer): boolean {
  if (at < 0) return false;
  for (let i = 0; i < bytes.length; i += 1) if (line[at + i] !== bytes[i]) return false;
  return true;
}
