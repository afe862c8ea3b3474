import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LineReader } from '../../src/core/line-reader.ts';

/** All lines that come of these chunks, and what stands at the end. */
function readAll(limit: number, chunks: readonly Buffer[]): { lines: string[]; isInsideLine: boolean } {
  const reader = new LineReader(limit);
  const lines: string[] = [];
  for (const chunk of chunks) {
    reader.push(chunk);
    for (let line = reader.next(); line !== null; line = reader.next()) {
      lines.push(line.toString());
      if (line === 'too-large') return { lines, isInsideLine: reader.isInsideLine };
    }
  }
  return { lines, isInsideLine: reader.isInsideLine };
}

test('next() gives lines without LF or CRLF', () => {
  const rows: readonly (readonly [text: string, lines: readonly string[], isInsideLine: boolean])[] = [
    ['', [], false],
    ['a\nb\r\n', ['a', 'b'], false],
    ['\n\r\n', ['', ''], false],
    ['a\rb\n', ['a\rb'], false],
    ['a\r\r\n', ['a\r'], false],
    ['a\nb', ['a'], true],
    ['a\r', [], true],
  ];
  for (const [text, lines, isInsideLine] of rows) {
    assert.deepEqual(readAll(100, [Buffer.from(text)]), { lines, isInsideLine }, JSON.stringify(text));
  }
});

test('next() gives the same lines however the bytes are cut', () => {
  const piece = fc.constantFrom('a', '\n', '\r\n', '👩‍👩‍👧', '漢字', 'e\u0301', '\r', 'x'.repeat(5000));
  const cuts = fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 8 });
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), cuts, (pieces, at) => {
      const bytes = Buffer.from(pieces.join(''));
      const ends = [...at.filter((end) => end < bytes.length).sort((a, b) => a - b), bytes.length];
      const chunks = ends.map((end, i) => Buffer.from(bytes.subarray(ends[i - 1] ?? 0, end)));
      assert.deepEqual(readAll(1e6, chunks), readAll(1e6, [bytes]));
    }),
  );
});

test('next() gives characters whole that come one byte at a time', () => {
  const text = 'é 漢字 👩‍👩‍👧 e\u0301';
  const bytes = [...Buffer.from(`${text}\n`)].map((byte) => Buffer.from([byte]));
  assert.deepEqual(readAll(100, bytes).lines, [text]);
});

test('next() refuses a line over the limit, ended or not, in one piece or in many', () => {
  const rows: readonly (readonly [chunks: readonly string[], lines: readonly string[]])[] = [
    [['12345678\n'], ['12345678']],
    [['12345678\r\n'], ['12345678']],
    [['1234', '5678', '\r', '\n'], ['12345678']],
    [['123456789\n'], ['too-large']],
    [['1234567890'], ['too-large']],
    [['12345', '67890'], ['too-large']],
    [['1234567', '8\r', '\n'], ['12345678']],
    [['12345678\n123456789\n'], ['12345678', 'too-large']],
  ];
  for (const [chunks, lines] of rows) {
    assert.deepEqual(
      readAll(
        8,
        chunks.map((chunk) => Buffer.from(chunk)),
      ).lines,
      lines,
      JSON.stringify(chunks),
    );
  }
});

test('push() copies small pieces together: a byte costs a byte', () => {
  const reader = new LineReader(1 << 20);
  const chunk = Buffer.alloc(1, 'x');
  const before = process.memoryUsage();
  for (let i = 0; i < 1 << 20; i += 1) {
    reader.push(chunk);
    assert.equal(reader.next(), null);
  }
  const after = process.memoryUsage();
  // One buffer for each byte would take a hundred times as much outside of the heap and inside.
  assert.ok(after.arrayBuffers - before.arrayBuffers < 8 << 20, 'outside of the heap');
  reader.push(Buffer.from('\n'));
  assert.equal(reader.next()?.length, 1 << 20);
});
