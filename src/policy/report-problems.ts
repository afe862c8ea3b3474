// Problems for machines: what GitHub Actions and SARIF viewers read (`check --format`).

import type { Problem } from '../core/errors.ts';

/** A workflow command of GitHub Actions, one line. */
export function githubAnnotation(problem: Problem): string {
  const { severity, file, line, column, endLine, endColumn, code, message, hint } = problem;
  const place = { file, line, endLine, col: column, endColumn, title: code };
  const properties = Object.entries(place).map(([key, value]) => `${key}=${escapeProperty(String(value))}`);
  const text = hint === undefined ? message : `${message}\n${hint}`;
  return `::${severity} ${properties.join(',')}::${escapeData(text)}`;
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** A SARIF 2.1.0 log. */
export function sarifLog(problems: readonly Problem[], version: string): unknown {
  const rules = [...new Set(problems.map(({ code }) => code))].map((id) => ({ id }));
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver: { name: 'rootsd', version, rules } }, results: problems.map(sarifResult) }],
  };
}

function sarifResult({ code, severity, file, line, column, endLine, endColumn, message, hint }: Problem): unknown {
  const region = { startLine: line, startColumn: column, endLine, endColumn };
  const uri = file.startsWith('/') ? `file://${encodeURI(file)}` : encodeURI(file);
  return {
    ruleId: code,
    level: severity,
    message: { text: hint === undefined ? message : `${message}\n${hint}` },
    locations: [{ physicalLocation: { artifactLocation: { uri }, region } }],
  };
}
