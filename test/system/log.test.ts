import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import type { LogLevel } from '../../src/core/log-event.ts';
import { LOG_EVENTS } from '../../src/core/log-event.ts';
import { openLog } from '../../src/system/log.ts';

const now = () => new Date(0);

function openedLog(t: TestContext, level: LogLevel) {
  const stream = new PassThrough();
  const opened = openLog({ level, stream, now });
  t.after(() => opened.close());
  const lines = async () => {
    await opened.close();
    stream.end();
    const written = await text(stream);
    return written === '' ? [] : written.trimEnd().split('\n');
  };
  return { ...opened, lines };
}

test('log() writes time, level, event and fields, one JSON object a line', async (t) => {
  const { log, lines } = openedLog(t, 'info');
  log('info', LOG_EVENTS.attached, { server: 'a\nb\u202e', pid: 1 });
  log('warn', LOG_EVENTS.refused);
  assert.deepEqual(await lines(), [
    '{"time":"1970-01-01T00:00:00.000Z","level":"info","message":"peer attached","server":"a\\nb\\u202e","pid":1}',
    '{"time":"1970-01-01T00:00:00.000Z","level":"warn","message":"peer refused"}',
  ]);
});

test('log() lets no field take the place of time, level or event', async (t) => {
  const { log, lines } = openedLog(t, 'info');
  log('info', LOG_EVENTS.attached, { message: 'x', level: 'y', time: 'z', line: 'w' });
  const [line = ''] = await lines();
  const expected = { time: now().toISOString(), level: 'info', message: 'peer attached', line: 'w' };
  assert.deepEqual(JSON.parse(line), expected);
});

test('log() leaves out what is below the level, and setLevel() changes it', async (t) => {
  const { log, setLevel, lines } = openedLog(t, 'warn');
  log('info', LOG_EVENTS.started, { n: 1 });
  setLevel('debug');
  log('debug', LOG_EVENTS.started, { n: 2 });
  setLevel('error');
  log('warn', LOG_EVENTS.started, { n: 3 });
  log('error', LOG_EVENTS.started, { n: 4 });
  assert.deepEqual(
    (await lines()).map((line) => JSON.parse(line).n),
    [2, 4],
  );
});

test('log() gives the stack of a bug at error only', async (t) => {
  const { log, lines } = openedLog(t, 'info');
  log('error', LOG_EVENTS.bug, { error: new TypeError('x') });
  log('warn', LOG_EVENTS.bug, { error: new TypeError('x') });
  const [error, warn] = (await lines()).map((line) => JSON.parse(line).error);
  assert.match(error.stack, /^TypeError: x\n/);
  assert.deepEqual(warn, { name: 'TypeError', message: 'x' });
});

test('log() drops lines after close(), which can be called twice', async (t) => {
  const { log, close, lines } = openedLog(t, 'info');
  await close();
  log('info', LOG_EVENTS.stopped);
  assert.deepEqual(await lines(), []);
});

test('log() to a standard error whose reader is gone does not end the process', async (t) => {
  const module = JSON.stringify(new URL('../../src/system/log.ts', import.meta.url).href);
  const program = `
    import { openLog } from ${module};
    process.stdin.once('data', async () => {
      process.stdin.destroy();
      const { log, close } = openLog({ level: 'info' });
      for (let i = 0; i < 5; i += 1) {
        log('info', 'daemon started', { i });
        await new Promise(setImmediate);
      }
      await close();
      console.log('alive');
    });
    console.log('ready');`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', program]);
  t.after(() => child.kill('SIGKILL'));
  const closed = once(child, 'close');
  await once(child.stdout, 'data');
  child.stderr.destroy();
  await once(child.stderr, 'close');
  child.stdin.write('go\n');
  const output = text(child.stdout);
  assert.deepEqual(await closed, [0, null]);
  assert.equal(await output, 'alive\n');
});
