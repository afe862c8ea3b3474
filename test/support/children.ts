import { readdirSync, readFileSync } from 'node:fs';

/** The processes that a process has started and that have not ended, the youngest last. */
export function childrenOf(pid: number): readonly number[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return all.filter((name) => isChild(name, pid)).map(Number);
}

function isChild(name: string, parent: number): boolean {
  try {
    const [state, ppid] = readFileSync(`/proc/${name}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return Number(ppid) === parent && state !== 'Z';
  } catch {
    return false;
  }
}
