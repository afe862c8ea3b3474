/** A line of a mount table, from `ID PARENT POINT TYPE` and, if not `rw`, `ro`. */
export function mountLine(words: string): string {
  const [id, parent, point, type, mode = 'rw'] = words.split(' ');
  return `${id} ${parent} 8:1 / ${point} ${mode},relatime shared:1 master:2 - ${type} /dev/x ${mode}\n`;
}
