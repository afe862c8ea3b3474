import { toJson } from '../core/display.ts';

export { EXIT } from '../core/exit-status.ts';

/** What a command has of the world; `process` fits. Standard output is the result, standard error all else. */
export interface Io {
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly argv: readonly string[];
  cwd(): string;
}

/** Writes a result as JSON, with a line break at its end. */
export function printJson(io: Io, value: unknown): void {
  io.stdout.write(`${toJson(value, 2)}\n`);
}

export function printLine(io: Io, line = ''): void {
  io.stdout.write(`${line}\n`);
}

/** Rows with their columns aligned; the last column is not padded. */
export function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows.reduce<number[]>((all, row) => row.map((cell, i) => Math.max(all[i] ?? 0, cell.length)), []);
  return rows.map((row) =>
    row
      .map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}
