// RootsGuard.open(), and the errors that a model is to act on.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { RootsError } from '../../src/core/errors.ts';
import type { RootsGuard } from '../../src/lib/roots-guard.ts';
import { whileExchanged } from '../support/exchanged.ts';
import { makeTree } from '../support/tree.ts';
import { SDKS } from './connected.ts';
import { guarded, pathsOf, type Root, root, TREE } from './guarded.ts';

describe('RootsGuard.open()', () => {
  it('reads and writes as the roots allow, in modes as node:fs names them', async (t) => {
    const base = makeTree(t, TREE);
    const list = [root(join(base, 'a'), 'read-only'), root(join(base, 'b'))];
    const asked = { path: '', flags: 'r' as const as 'r' | 'w' | 'wx' | 'a+' };
    const { call } = await guarded(t, '1.x', { list }, async (guard) => {
      await using file = await guard.open(join(base, asked.path), asked.flags, 0o600);
      if (asked.flags !== 'r') await file.write('+');
      return (await file.stat()).size;
    });
    const rows: [string, typeof asked.flags, RegExp][] = [
      ['a/f', 'r', /^4$/],
      ['a/f', 'a+', /^error: .*may only be read/],
      ['b/f', 'a+', /^5$/],
      ['b/f', 'w', /^1$/],
      ['b/f', 'wx', /^error: EEXIST: .*b\/f'$/],
      ['b/new', 'wx', /^1$/],
      ['b/none', 'r', /^error: ENOENT: .*b\/none'$/],
      ['b', 'r', /^\d+$/],
      ['a/out/secret', 'r', /^error: .*lies or leads outside/],
    ];
    for (const [path, flags, expected] of rows) {
      Object.assign(asked, { path, flags });
      assert.match(await call(), expected, `${path} ${flags}`);
    }
  });

  it('refuses ways to open that are none, and paths that are no texts', async (t) => {
    const base = makeTree(t, TREE);
    const { guard } = await guarded(t, '1.x', { list: [root(base)] }, pathsOf);
    await assert.rejects(guard.open(join(base, 'a/f'), 'rs' as 'r'), TypeError);
    await assert.rejects(guard.open(join(base, 'a/f'), 'constructor' as 'r'), TypeError);
    for (const path of [undefined, null, 7, ['/'], {}]) {
      await assert.rejects(guard.open(path as unknown as string), { code: 'PATH_INVALID', message: /is not a text/ });
    }
  });

  it('refuses pipes without waiting for their other end', async (t) => {
    const base = makeTree(t, ['fifo a/p']);
    const { call } = await guarded(t, '1.x', { list: [root(base)] }, (guard) => guard.open(join(base, 'a/p')));
    assert.match(await call(), /^error: .*names neither a directory nor a regular file/);
  });

  it('leads outside in no try of a race', { skip: process.platform !== 'linux' && 'needs /proc' }, async (t) => {
    const base = makeTree(t, ['file b/sub/secret mine', 'file out/secret outside']);
    const { guard, call } = await guarded(t, '1.x', { list: [root(join(base, 'b'))] }, pathsOf);
    await call();
    const open = async (): Promise<string> => {
      try {
        await using file = await guard.open(join(base, 'b/sub/secret'));
        return await file.readFile('utf8');
      } catch (error) {
        return error instanceof RootsError ? error.code : String((error as NodeJS.ErrnoException).code);
      }
    };
    const seen = new Set<string>();
    await whileExchanged(join(base, 'b/sub'), '../out', async () => {
      for (let tries = 0; tries < 2_000; tries++) seen.add(await open());
    });
    assert.ok(seen.has('mine'), [...seen].join());
    for (const what of seen) assert.ok(['mine', 'PATH_OUTSIDE', 'PATH_CHANGED', 'ENOENT'].includes(what), what);
  });
});

/** What a call of the guard rejects with. */
async function refusal(
  t: TestContext,
  list: readonly Root[],
  run: (guard: RootsGuard) => Promise<unknown>,
): Promise<RootsError> {
  const { guard, call } = await guarded(t, '1.x', { list }, pathsOf);
  await call();
  const error: unknown = await run(guard).then(
    () => assert.fail('not refused'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof RootsError, String(error));
  return error;
}

describe('what RootsGuard throws', () => {
  it('has a code, and says which path, why, and what may be used', async (t) => {
    const base = makeTree(t, ['file a/f x', 'file b/f x', 'fifo a/pipe', 'link a/out -> ../b']);
    const list = [root(join(base, 'a'), 'read-only')];
    const at = (path: string) => join(base, path);
    const may = `This server may use "${at('a')}" (read-only)`;
    const outside = (path: string) =>
      `Cannot use "${path}": it lies or leads outside of what may be used, or nowhere. ${may}`;
    const rows: [path: string, access: 'read-only' | 'read-write', code: string, message: string][] = [
      [at('b/f'), 'read-only', 'PATH_OUTSIDE', outside(at('b/f'))],
      [at('a/out/f'), 'read-only', 'PATH_OUTSIDE', outside(at('a/out/f'))],
      [at('nothing'), 'read-write', 'PATH_OUTSIDE', outside(at('nothing'))],
      [at('a/f'), 'read-write', 'PATH_READ_ONLY', `Cannot write to "${at('a/f')}": it may only be read. ${may}`],
      [
        at('a/pipe'),
        'read-only',
        'PATH_INVALID',
        `Cannot use "${at('a/pipe')}": it names neither a directory nor a regular file. ${may}`,
      ],
      ['a/f', 'read-only', 'PATH_INVALID', `Cannot use "a/f": it is relative, must be absolute. ${may}`],
    ];
    for (const [path, access, code, message] of rows) {
      const error = await refusal(t, list, (guard) => guard.resolve(path, { access }));
      assert.deepEqual([error.code, error.message], [code, message], path);
    }
  });

  it('says that nothing may be used where that is so', async (t) => {
    const { code, message } = await refusal(t, [], (guard) => guard.open('/etc/passwd'));
    assert.equal(code, 'PATH_OUTSIDE');
    assert.match(message, /This server may use no directory now$/);
  });

  it('shows no more of a path than a model needs, and nothing that could steer a reader', async (t) => {
    const base = makeTree(t, TREE);
    const { message } = await refusal(t, [root(base)], (guard) => guard.resolve(`/\u001b[31m${'x'.repeat(1_000)}`));
    assert.ok(message.length < 1_000);
    assert.doesNotMatch(message, /\u001b/);
  });
});

for (const sdk of SDKS) {
  it(`what RootsGuard throws becomes the result of the tool on SDK ${sdk}`, async (t) => {
    const base = makeTree(t, TREE);
    const { call } = await guarded(t, sdk, { list: [root(join(base, 'a'))] }, (guard) => guard.open(join(base, 'b/f')));
    const may = `This server may use "${join(base, 'a')}" (read-write)`;
    assert.equal(
      await call(),
      `error: Cannot use "${join(base, 'b/f')}": it lies or leads outside of what may be used, or nowhere. ${may}`,
    );
  });
}
