/** Shown below the options of `rootsd resolve --help`. */
export const RESOLVE_HELP = `
Containment only: no policy is read. Prints where each path leads, and with --within whether that is "inside" one of the
directories, "outside" all of them, or the path is "invalid". Relative paths start from the working directory.

--uri: each path is a file: URI; what is printed is a path all the same.
--stdin: each line {"id","kind":"path"|"uri"|"policy-path","input","roots":[...]} is answered with a line
{"id","verdict","canonical"?,"root"?,"why"} before the next is awaited. Relative paths are invalid here. A line without
roots gets those of --within.

Exit status: 0 if all are inside, 1 if not; without --within 1 only if one is invalid; with --stdin 0.`;
