const LINE_FEED = 0x0a;

/**
 * Cuts a stream into lines without their line feeds; null stands for a line of more than `maxBytes`, which is not kept.
 * The next chunk is asked for only when all lines of the last one have been taken. A last line needs no line feed.
 */
export async function* readLines(stream: NodeJS.ReadableStream, maxBytes: number): AsyncGenerator<Buffer | null> {
  let parts: Buffer[] = [];
  let bytes = 0;
  const take = (part: Buffer): void => {
    bytes += part.length;
    if (bytes <= maxBytes) parts.push(part);
    else parts = [];
  };
  const finish = (): Buffer | null => {
    const line = bytes > maxBytes ? null : Buffer.concat(parts);
    parts = [];
    bytes = 0;
    return line;
  };
  for await (const piece of stream) {
    const chunk = Buffer.from(piece);
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      take(chunk.subarray(start, end));
      yield finish();
      start = end + 1;
    }
    take(chunk.subarray(start));
  }
  if (bytes > 0) yield finish();
}
