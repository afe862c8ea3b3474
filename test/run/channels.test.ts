import assert from 'node:assert/strict';
import {
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Channel } from '../../src/core/server-traits.ts';
import { identifyProcess } from '../../src/run/processes.ts';
import { viewOf } from '../support/fake-daemon.ts';
import { OBEDIENT_SERVER, RunHost, useRun } from '../support/run-host.ts';
import { type RunSetup, type RunSetupOptions, setUpRun } from '../support/run-setup.ts';

const program = useRun();

const DIRS: Channel = { kind: 'env', name: 'DIRS', value: { form: 'list', separator: ',' } };

interface Environment {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly pid: number;
}

async function environment(host: RunHost): Promise<Environment> {
  return (await host.ask('environment')) as Environment;
}

/** Publishes a view and waits until it is in force. */
async function change({ base, daemon }: RunSetup, generation: string, ...names: readonly string[]): Promise<void> {
  daemon.publish(viewOf(Object.fromEntries(names.map((name) => [name, `${base}/${name}`])), generation));
  while ((await daemon.next('rootsd/ack')).params.generation !== generation);
}

describe('rootsd run, a variable as the channel', () => {
  it('sets it beside those of the host, and starts the server again when it changes', async (t) => {
    const setup = await setUpRun(t, program(), { plan: { channels: [DIRS] }, env: { DIRS: '/', OTHER: 'kept' } });
    const { base, host } = setup;
    await host.initialize();
    await host.request('resources/subscribe', { uri: `file://${base}/a/s` });
    const before = await environment(host);
    assert.deepEqual([before.env.DIRS, before.env.OTHER], [`${base}/a`, 'kept']);
    await change(setup, '02', 'a', 'b');
    const after = await environment(host);
    assert.equal(after.env.DIRS, `${base}/a,${base}/b`);
    assert.equal(identifyProcess(before.pid), null);
    const methods = ((await host.ask('received')) as string[]).map((line) => JSON.parse(line).method);
    assert.deepEqual(methods.slice(0, 3), ['initialize', 'notifications/initialized', 'resources/subscribe']);
  });

  it('leaves the server alone where it stays the same', async (t) => {
    const value = { form: 'template', template: '{primary}/x' } as const;
    const setup = await setUpRun(t, program(), { plan: { channels: [{ kind: 'env', name: 'FIRST', value }] } });
    await setup.host.initialize();
    const before = await environment(setup.host);
    await change(setup, '02', 'a', 'b');
    assert.equal((await environment(setup.host)).pid, before.pid);
  });

  it('is an empty directory where nothing is allowed', async (t) => {
    const { host } = await setUpRun(t, program(), { plan: { channels: [DIRS] }, allowed: [] });
    await host.initialize();
    assert.deepEqual(readdirSync((await environment(host)).env.DIRS ?? '/'), []);
  });

  it('becomes one when the policy says so while the server runs', async (t) => {
    const setup = await setUpRun(t, program());
    const { base, daemon, host } = setup;
    await host.initialize();
    assert.equal((await environment(host)).env.DIRS, undefined);
    daemon.plan = { ...daemon.plan, channels: [DIRS] };
    await change(setup, '02', 'a');
    assert.equal((await environment(host)).env.DIRS, `${base}/a`);
  });
});

describe('rootsd run, the working directory as the channel', () => {
  it('is the first root, and another server when that changes', async (t) => {
    const setup = await setUpRun(t, program(), { plan: { channels: [{ kind: 'cwd' }] }, allowed: ['a', 'b'] });
    const { base, host } = setup;
    await host.initialize();
    assert.equal((await environment(host)).cwd, `${base}/a`);
    await change(setup, '02', 'b');
    assert.equal((await environment(host)).cwd, `${base}/b`);
  });
});

describe('rootsd run, a server to which an empty list means everything', () => {
  it('is not started where nothing is allowed, and the host hears why', async (t) => {
    const plan = { channels: [DIRS], empty: 'stop' } as const;
    const { host } = await setUpRun(t, program(), { plan, allowed: [] });
    host.send({ id: 1, method: 'initialize', params: { capabilities: {} } });
    assert.deepEqual(await host.ended, { status: 77, signal: null });
    assert.match(JSON.stringify(host.messages[0]?.error), /nothing is allowed to it.*rootsd allow PATH --server NAME/);
  });

  const plan = { channels: [{ kind: 'roots' }], empty: 'stop' } as const;
  const stopped = async (setup: RunSetup): Promise<void> => {
    await setup.host.initialize();
    await change(setup, '02');
  };

  it('is stopped when the last root is taken away; the host keeps its session and hears what to do', async (t) => {
    const setup = await setUpRun(t, program(), { plan });
    const { host } = setup;
    await host.initialize();
    const { pid } = await environment(host);
    await change(setup, '02');
    assert.equal(identifyProcess(pid), null);
    const { error } = await host.request('tools/call', { name: 'x', arguments: {} });
    assert.match(JSON.stringify(error), /nothing is allowed to it.*rootsd allow PATH --server NAME/);
    assert.deepEqual(await host.ask('ping'), {}, 'a host that asks whether the session lives hears that it does');
  });

  it('is started again, with all that it was told, when something is allowed again', async (t) => {
    const setup = await setUpRun(t, program(), { plan });
    const { base, host } = setup;
    await host.initialize();
    await host.request('resources/subscribe', { uri: `file://${base}/a/s` });
    await change(setup, '02');
    await change(setup, '03', 'a', 'b');
    const methods = ((await host.ask('received')) as string[]).map((line) => JSON.parse(line).method);
    assert.deepEqual(methods, ['initialize', 'notifications/initialized', 'resources/subscribe', 'received']);
    const { result } = (await host.ask('roots')) as { result: { roots: readonly unknown[] } };
    assert.equal(result.roots.length, 2);
    await change(setup, '04');
    await change(setup, '05', 'b');
    assert.deepEqual(await host.ask('echo', { n: 1 }), { n: 1 }, 'also a second time');
  });

  it('lets calls under way end before it is stopped', async (t) => {
    const setup = await setUpRun(t, program(), { plan });
    const { host } = setup;
    await host.initialize();
    const late = host.request('later', { ms: 300 });
    await change(setup, '02');
    assert.equal((await late).result, 'later');
  });

  it('hears after its start what the host said while there was none', async (t) => {
    const setup = await setUpRun(t, program(), { plan });
    const { base, host } = setup;
    const capabilities = { roots: { listChanged: true } };
    await host.request('initialize', { protocolVersion: '2025-11-25', capabilities });
    await change(setup, '02');
    host.send({ method: 'notifications/initialized' });
    const asked = await host.next(({ method }) => method === 'roots/list');
    await change(setup, '03', 'a', 'b');
    host.send({ id: asked.id, result: { roots: [{ uri: `file://${base}/b` }] } });
    const { result } = (await host.ask('roots', {})) as { result: { roots: { name: string }[] } };
    assert.deepEqual(
      result.roots.map(({ name }) => name),
      ['b'],
    );
    const methods = ((await host.ask('received')) as string[]).map((line) => JSON.parse(line).method);
    assert.deepEqual(methods.slice(0, 2), ['initialize', 'notifications/initialized']);
  });

  it('is started again when the host lists a root again', async (t) => {
    const { base, host } = await setUpRun(t, program(), { plan });
    const list = async (...names: readonly string[]): Promise<void> => {
      const { id } = await host.next(({ method }) => method === 'roots/list');
      host.skip();
      host.send({ id, result: { roots: names.map((name) => ({ uri: `file://${base}/${name}` })) } });
    };
    await host.initialize({ roots: { listChanged: true } });
    await list();
    await host.said('No directory is allowed');
    while ((await host.request('echo')).error === undefined);
    host.send({ method: 'notifications/roots/list_changed' });
    await list('a');
    while ((await host.request('echo')).error !== undefined);
  });

  it('ends with the host, or by its signal, while it is stopped', async (t) => {
    const left = await setUpRun(t, program(), { plan });
    await stopped(left);
    left.host.process.stdin?.end();
    assert.deepEqual(await left.host.ended, { status: 0, signal: null });
    const signalled = await setUpRun(t, program(), { plan });
    await stopped(signalled);
    signalled.host.process.kill('SIGTERM');
    assert.deepEqual(await signalled.host.ended, { status: null, signal: 'SIGTERM' });
  });
});

const SETTINGS = '{\n  // mine\n  "allowed": ["/"],\n  "other": 1\n}\n';

interface WithSettings extends RunSetup {
  readonly file: string;
  /** What the server is told. */
  readonly told: () => readonly string[];
  /** A second session of the same server, of the same daemon. */
  readonly second: () => RunHost;
}

/** A session whose channel is a file of settings. */
async function withSettings(
  t: TestContext,
  {
    content = SETTINGS,
    linkTo,
    lock,
    ...more
  }: RunSetupOptions & { readonly content?: string | null; readonly linkTo?: string; readonly lock?: string } = {},
): Promise<WithSettings> {
  const place = { path: '' };
  const setup = await setUpRun(t, program(), {
    ...more,
    prepare(base) {
      place.path = `${base}/settings.json`;
      if (linkTo !== undefined) symlinkSync(`${base}/${linkTo}`, place.path);
      if (content !== null) writeFileSync(place.path, content, { mode: 0o640 });
      const beside = `${base}/.settings.json.rootsd.lock`;
      if (lock === '') writeFileSync(beside, lock);
      else if (lock !== undefined) symlinkSync(lock, beside);
      const channel: Channel = { kind: 'config', path: place.path, key: ['allowed'], format: 'json' };
      return { channels: [channel], empty: 'stop' };
    },
  });
  const args = ['--socket', setup.daemon.socket, '--server', 'o', '--', process.execPath, OBEDIENT_SERVER];
  return {
    ...setup,
    file: place.path,
    told: () => JSON.parse(readFileSync(place.path, 'utf8').replace(/\/\/.*/, '')).allowed,
    second: () => new RunHost(t, { program: program(), args }),
  };
}

function leftBeside(file: string): readonly string[] {
  return readdirSync(dirname(file)).filter((name) => name.startsWith('.'));
}

async function end(host: RunHost): Promise<void> {
  host.process.stdin?.end();
  await host.ended;
}

describe('rootsd run, a file of settings as the channel', () => {
  it('holds the list while the server runs, and is as it was afterwards, byte for byte', async (t) => {
    const setup = await withSettings(t);
    const { base, host, file, told } = setup;
    await host.initialize();
    assert.deepEqual(told(), [`${base}/a`]);
    assert.match(readFileSync(file, 'utf8'), /\/\/ mine\n(?:.*\n)*.*"other": 1/);
    assert.equal(statSync(file).mode & 0o777, 0o640);
    await change(setup, '02', 'a', 'b');
    assert.deepEqual(told(), [`${base}/a`, `${base}/b`]);
    await end(host);
    assert.equal(readFileSync(file, 'utf8'), SETTINGS);
    assert.deepEqual(leftBeside(file), []);
  });

  it('is as it was also while there is no server, because nothing is allowed', async (t) => {
    const setup = await withSettings(t);
    const { base, host, file, told } = setup;
    await host.initialize();
    await change(setup, '02');
    assert.equal(readFileSync(file, 'utf8'), SETTINGS);
    await change(setup, '03', 'b');
    assert.deepEqual(told(), [`${base}/b`]);
    await end(host);
    assert.equal(readFileSync(file, 'utf8'), SETTINGS);
  });

  it('is gone again where there was none', async (t) => {
    const { base, host, file, told } = await withSettings(t, { content: null });
    await host.initialize();
    assert.deepEqual(told(), [`${base}/a`]);
    await end(host);
    assert.equal(existsSync(file), false);
  });

  it('keeps what the server has changed in it meanwhile, but not our list', async (t) => {
    const { host, file } = await withSettings(t);
    await host.initialize();
    writeFileSync(file, readFileSync(file, 'utf8').replace('"other": 1', '"other": 2'));
    await end(host);
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8').replace(/\/\/.*/, '')), { allowed: ['/'], other: 2 });
  });

  it('keeps what somebody else has made of our list meanwhile, also where that was changed again by us', async (t) => {
    const setup = await withSettings(t);
    const { base, host, file, told } = setup;
    await host.initialize();
    const edit = (place: string): string => {
      const edited = readFileSync(file, 'utf8').replace(/"allowed": \[[^\]]*\]/, `"allowed": ["${place}"]`);
      writeFileSync(file, edited);
      return edited;
    };
    const first = edit('/mine');
    await change(setup, '02', 'b');
    assert.deepEqual(told(), [`${base}/b`]);
    await host.said('"allowed" in "');
    await change(setup, '03');
    assert.equal(readFileSync(file, 'utf8'), first);
    await change(setup, '04', 'a');
    const second = edit('/other');
    await end(host);
    assert.equal(readFileSync(file, 'utf8'), second);
    assert.match(host.stderr, /"allowed" in ".*" was changed while the server ran, and stays so/);
    assert.deepEqual(leftBeside(file), []);
  });

  it('stays away where somebody has removed it meanwhile', async (t) => {
    const setup = await withSettings(t);
    const { base, host, file, told } = setup;
    await host.initialize();
    rmSync(file);
    await change(setup, '02', 'b');
    assert.deepEqual(told(), [`${base}/b`], 'a server that runs is told its list');
    await end(host);
    assert.equal(existsSync(file), false);
    const next = setup.second();
    await next.initialize();
    rmSync(file);
    await end(next);
    assert.equal(existsSync(file), false);
    assert.deepEqual(leftBeside(file), []);
  });

  it('is as somebody else has left it after a session was killed, but not with our list', async (t) => {
    for (const [edit, expected] of [
      [(text: string) => text.replace('"other": 1', '"other": 2'), { allowed: ['/'], other: 2 }],
      [
        (text: string) => text.replace(/"allowed": \[[^\]]*\]/, '"allowed": ["/mine"]'),
        { allowed: ['/mine'], other: 1 },
      ],
      [() => '{}', {}],
    ] as const) {
      const { host, file, second, told, base } = await withSettings(t);
      await host.initialize();
      host.process.kill('SIGKILL');
      await host.ended;
      writeFileSync(file, edit(readFileSync(file, 'utf8')));
      const next = second();
      await next.initialize();
      assert.deepEqual(told(), [`${base}/a`]);
      await end(next);
      assert.deepEqual(JSON.parse(readFileSync(file, 'utf8').replace(/\/\/.*/, '')), expected);
      assert.deepEqual(leftBeside(file), []);
    }
  });

  it('is not made again where it was removed, which is said', async (t) => {
    const { host, file } = await withSettings(t);
    await host.initialize();
    rmSync(file);
    await end(host);
    assert.equal(existsSync(file), false);
    assert.match(host.stderr, /settings\.json" was removed while the server ran, and stays so/);
  });

  it('stays as it is where it cannot be read at the end, and is put back when it can', async (t) => {
    const { host, file, second } = await withSettings(t);
    await host.initialize();
    const ours = readFileSync(file, 'utf8');
    writeFileSync(file, `${ours}}`);
    await end(host);
    assert.match(host.stderr, /it is not JSON/);
    assert.equal(readFileSync(file, 'utf8'), `${ours}}`);
    writeFileSync(file, `${ours}\n`);
    const next = second();
    await next.initialize();
    await end(next);
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8').replace(/\/\/.*/, '')), { allowed: ['/'], other: 1 });
  });

  it('has our list at the place that the policy names while the server runs', async (t) => {
    const setup = await withSettings(t);
    const { base, daemon, host, file } = setup;
    await host.initialize();
    const [channel] = daemon.plan.channels;
    assert.ok(channel?.kind === 'config');
    daemon.plan = { ...daemon.plan, channels: [{ ...channel, key: ['elsewhere'] }] };
    await change(setup, '02', 'b');
    const read = () => JSON.parse(readFileSync(file, 'utf8').replace(/\/\/.*/, ''));
    assert.deepEqual(read(), { allowed: ['/'], other: 1, elsewhere: [`${base}/b`] });
    await end(host);
    assert.equal(readFileSync(file, 'utf8'), SETTINGS);
  });

  it('is put back at the next start where a session was killed', async (t) => {
    const { host, file, second } = await withSettings(t);
    await host.initialize();
    host.process.kill('SIGKILL');
    await host.ended;
    assert.notEqual(readFileSync(file, 'utf8'), SETTINGS);
    const next = second();
    await next.initialize();
    await end(next);
    assert.equal(readFileSync(file, 'utf8'), SETTINGS);
    assert.deepEqual(leftBeside(file), []);
  });

  it('is ours also where a power cut has emptied the lock of a session', async (t) => {
    const { base, host, file, told } = await withSettings(t, { lock: '' });
    await host.initialize();
    assert.deepEqual(told(), [`${base}/a`]);
    await end(host);
    assert.equal(readFileSync(file, 'utf8'), SETTINGS);
    assert.deepEqual(leftBeside(file), []);
  });

  it('is written where a link leads, and the link stays', async (t) => {
    const { base, host, file, told } = await withSettings(t, { linkTo: 'real.json' });
    await host.initialize();
    assert.deepEqual(told(), [`${base}/a`]);
    await end(host);
    assert.equal(readlinkSync(file), `${base}/real.json`);
    assert.equal(readFileSync(file, 'utf8'), SETTINGS);
  });

  it('is shared by sessions that run at once: the list is what each of them may use', async (t) => {
    const setup = await withSettings(t, { allowed: ['a', 'b'] });
    const { base, host, file, told, second } = setup;
    await host.initialize();
    const other = second();
    await other.initialize();
    assert.deepEqual(told(), [`${base}/a`, `${base}/b`]);
    await end(host);
    assert.deepEqual(told(), [`${base}/a`, `${base}/b`]);
    await end(other);
    assert.equal(readFileSync(file, 'utf8'), SETTINGS);
  });

  it('is as it was after sessions that began at once, over the lock of one that was killed, and were killed or ended', async (t) => {
    const lock = JSON.stringify({ pid: 2 ** 30, startTime: '1', token: '00112233445566aa' });
    const { base, host, file, told, second } = await withSettings(t, { lock });
    const others = [second(), second(), second()];
    await Promise.all([host, ...others].map((one) => one.initialize()));
    assert.deepEqual(told(), [`${base}/a`]);
    for (const one of [host, others[1]]) one?.process.kill('SIGKILL');
    await Promise.all([host.ended, others[1]?.ended]);
    await Promise.all([others[0], others[2]].map((one) => one && end(one)));
    assert.equal(readFileSync(file, 'utf8'), SETTINGS);
    assert.deepEqual(leftBeside(file), []);
  });

  it('lets no session start that may use nothing of what another may', async (t) => {
    const { base, daemon, host, told, second } = await withSettings(t);
    await host.initialize();
    daemon.show(viewOf({ b: `${base}/b` }, '02'));
    const other = second();
    other.send({ id: 1, method: 'initialize', params: { capabilities: {} } });
    assert.equal((await other.ended).status, 78);
    assert.match(other.stderr, /another session of this server \(process \d+\) uses it for other directories/);
    assert.deepEqual(told(), [`${base}/a`]);
  });

  it('that cannot be read lets the server not start, and stays as it is', async (t) => {
    const { host, file } = await withSettings(t, { content: '{ "allowed": ' });
    host.send({ id: 1, method: 'initialize', params: { capabilities: {} } });
    assert.equal((await host.ended).status, 78);
    assert.match(host.stderr, /settings\.json": it is not JSON/);
    assert.equal(readFileSync(file, 'utf8'), '{ "allowed": ');
  });
});
