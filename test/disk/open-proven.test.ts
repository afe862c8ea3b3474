import assert from 'node:assert/strict';
import { constants, existsSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { asRealPath } from '../../src/core/path.ts';
import { type OpenMode, openCompared, openProven } from '../../src/disk/open-proven.ts';
import { whileExchanged } from '../support/exchanged.ts';
import { makeTree } from '../support/tree.ts';

const TREE = ['file root/a/f inside', 'dir root/b', 'file out/f outside'];
const READ = { flags: constants.O_RDONLY };
const WRITE = { flags: constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC };

for (const [name, open] of Object.entries({ openProven, openCompared })) {
  describe(`${name}()`, () => {
    it('opens what lies at the path, and makes what does not', async (t) => {
      const base = makeTree(t, TREE);
      const handle = await open(asRealPath(join(base, 'root/a/f')), READ);
      assert.ok(handle !== 'moved');
      assert.equal(await handle.readFile('utf8'), 'inside');
      await handle.close();
      const made = await open(asRealPath(join(base, 'root/a/new')), { ...WRITE, mode: 0o600 });
      assert.ok(made !== 'moved');
      assert.equal((await made.stat()).mode & 0o777, 0o600);
      await made.close();
      const emptied = await open(asRealPath(join(base, 'root/a/f')), WRITE);
      assert.ok(emptied !== 'moved');
      await emptied.close();
      assert.equal(readFileSync(join(base, 'root/a/f'), 'utf8'), '');
      const top = await open(asRealPath('/'), READ);
      assert.ok(top !== 'moved' && (await top.stat()).isDirectory());
      await top.close();
    });

    it('follows no link that has taken the place of the file, its directory or one above', async (t) => {
      for (const [place, target] of [
        ['root/a/f', '../../out/f'],
        ['root/a', '../out'],
        ['root', '.'],
      ] as const) {
        const base = makeTree(t, [...TREE, 'file a/f outside']);
        const path = asRealPath(join(base, 'root/a/f'));
        rmSync(join(base, place), { recursive: true });
        symlinkSync(target, join(base, place));
        assert.equal(await open(path, READ), 'moved', place);
        assert.equal(await open(path, WRITE), 'moved', place);
        assert.equal(readFileSync(join(base, 'out/f'), 'utf8'), 'outside');
        assert.equal(readFileSync(join(base, 'a/f'), 'utf8'), 'outside');
      }
    });

    it('names the path where the system refuses, not our descriptor', async (t) => {
      const base = makeTree(t, TREE);
      const path = join(base, 'root/b/none');
      await assert.rejects(open(asRealPath(path), READ), {
        code: 'ENOENT',
        path,
        message: `ENOENT: no such file or directory, open '${path}'`,
      });
      await assert.rejects(open(asRealPath(join(base, 'root/none/f')), WRITE), { code: 'ENOENT' });
    });

    it('says moved where a directory on the way has become a file', async (t) => {
      const base = makeTree(t, TREE);
      rmSync(join(base, 'root/a'), { recursive: true });
      renameSync(join(base, 'out/f'), join(base, 'root/a'));
      assert.equal(await open(asRealPath(join(base, 'root/a/f')), READ), 'moved');
    });
  });
}

/** Opens `root/a/f` again and again while `root/a` is exchanged; what came of it. */
function race(base: string, open: typeof openProven, how: OpenMode): Promise<ReadonlySet<string>> {
  return whileExchanged(join(base, 'root/a'), '../out', async () => {
    const seen = new Set<string>();
    for (let tries = 0; tries < 3_000; tries++) {
      const opened = await open(asRealPath(join(base, 'root/a/f')), how).catch(() => 'absent' as const);
      if (typeof opened === 'string') seen.add(opened);
      else seen.add(how === READ ? await opened.readFile('utf8') : 'opened');
      if (typeof opened !== 'string') await opened.close();
    }
    return seen;
  });
}

describe('openProven()', () => {
  it('leads outside in no try of a race', { skip: process.platform !== 'linux' && 'needs /proc' }, async (t) => {
    const base = makeTree(t, TREE);
    const seen = await race(base, openProven, READ);
    assert.ok(seen.has('inside') && !seen.has('outside'), [...seen].join());
    assert.ok(existsSync(join(base, 'root/a/f')));
  });
});

describe('openCompared()', () => {
  it('empties nothing outside in any try of a race', async (t) => {
    const base = makeTree(t, TREE);
    const seen = await race(base, openCompared, { flags: constants.O_WRONLY | constants.O_TRUNC });
    assert.ok(seen.has('opened'), [...seen].join());
    assert.equal(readFileSync(join(base, 'out/f'), 'utf8'), 'outside');
  });
});
