/** What a benchmark gives for one goal, see rows.mjs. */
export interface Row {
  readonly goal: number | string;
  readonly name: string;
  readonly value?: number;
  readonly range?: readonly [number, number];
  readonly gate?: string;
  readonly stretch?: string;
  readonly notCompared?: string;
}

export function median(values: readonly number[]): number;
export function overRounds<T>(
  rounds: readonly T[],
  ratio: (round: T) => number,
): { readonly value: number; readonly range: readonly [number, number] };
export function meets(value: number, bound: string): boolean;
export function verdictOf(row: Partial<Row>): 'stretch' | 'gate' | 'MISSED' | 'shown' | 'not compared';
export function formatRow(row: Row): string;
export function rangeOf(row: Partial<Row>): string;
export function digits(value: number): string;
export function runAlone(moduleUrl: string, measure: (options: object) => Promise<readonly Row[]>): Promise<void>;
