// Policies of a size that nobody writes by hand and machines do.

/** A layer's text with so many rules on a thousand roots, some 230 bytes each; 4,100 make about 1 MB. */
export function largePolicy(rules: number): string {
  const roots = Array.from({ length: Math.min(rules, 1_000) }, (_, i) => i);
  return [
    'version: 1',
    'roots:',
    ...roots.map((i) => `  project-${i}:\n    path: ~/code/team-${i % 20}/project-${i}\n    title: Project ${i}`),
    'rules:',
    ...Array.from({ length: rules }, (_, i) => ruleText(i, roots.length)),
    'tests:',
    '  - { claims: server-0, root: project-0, expect: allow }',
    '  - { claims: server-0, path: ~/vault/2/keys, expect: deny, rule: rule-2 }',
    '',
  ].join('\n');
}

function ruleText(i: number, roots: number): string {
  const reason = `Rule ${i} was made by a machine from the list of team ${i % 20}, which somebody keeps elsewhere and nobody reads to its end`;
  const effect =
    i % 3 === 2
      ? `deny: [~/vault/team-${i % 20}/secret-${i}, ~/vault/${i}/keys]`
      : `allow: [project-${i % roots}, project-${(i * 7) % roots}]\n    servers: [server-${i % 50}, server-${(i + 1) % 50}]`;
  return `  - id: rule-${i}\n    ${effect}\n    reason: ${reason}`;
}
