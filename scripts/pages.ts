// The parts that pages made from data consist of.

export interface Page {
  /** Below docs/. */
  readonly path: string;
  readonly text: string;
}

export function sections(parts: readonly string[]): string {
  return `${parts.join('\n\n')}\n`;
}

/** A head and its list, or nothing. */
export function listed(head: string, sentences: readonly string[]): readonly string[] {
  return sentences.length === 0 ? [] : [head, bullets(sentences)];
}

export function bullets(sentences: readonly string[]): string {
  return sentences.map((sentence) => `- ${sentence}`).join('\n');
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

export function fenced(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}
