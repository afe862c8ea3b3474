import type { TestContext } from 'node:test';

const NOBODY = 65534;

/** Why a test that needs a refusal by file mode cannot run here, or false. Root is refused nothing, so it must step down. */
export const needsRoot: string | false = process.getuid?.() === 0 ? false : 'must be root to become another user';

/** Makes this process act as another user until the test ends. Files made meanwhile belong to that user. */
export function becomeNobody(t: Pick<TestContext, 'after'>): void {
  process.setegid?.(NOBODY);
  process.seteuid?.(NOBODY);
  t.after(() => {
    process.seteuid?.(0);
    process.setegid?.(0);
  });
}
