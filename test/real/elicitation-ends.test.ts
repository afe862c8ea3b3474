// Whoever is asked, or asks, goes away.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { list, onlyQuestion } from '../support/asking-home.ts';
import { serve, untilPending } from '../support/eliciting-hosts.ts';
import { FILESYSTEM } from '../support/real-servers.ts';
import { type Json, RunHost } from '../support/run-host.ts';
import { ROOTSD, type TestHome } from '../support/serve.ts';

const isElicitation = ({ method }: Json): boolean => method === 'elicitation/create';

function runHost(t: TestContext, home: TestHome, program = ROOTSD): RunHost {
  const args = ['run', '--', process.execPath, FILESYSTEM];
  return new RunHost(t, { program, args, env: home.env });
}

/** A host that is asked, in a home with one question that is open. */
async function asked(t: TestContext, home: TestHome, program = ROOTSD): Promise<RunHost> {
  const host = runHost(t, home, program);
  await host.initialize({ elicitation: {} });
  await host.next(isElicitation);
  return host;
}

describe('a question at a host is withdrawn, and nothing is remembered', () => {
  async function isWithdrawn(home: TestHome): Promise<void> {
    await untilPending(home, 0);
    assert.deepEqual((await list(home)).history, []);
  }

  it('when `run` is killed', async (t) => {
    const home = await serve(t);
    const host = await asked(t, home);
    await onlyQuestion(home);
    host.process.kill('SIGKILL');
    await isWithdrawn(home);
  });

  it('when the host leaves', async (t) => {
    const home = await serve(t);
    const host = await asked(t, home);
    host.process.stdin?.end();
    await isWithdrawn(home);
    assert.equal((await host.ended).status, 0);
  });

  it('when the host is killed and leaves its end of the pipes to others', async (t) => {
    const home = await serve(t);
    const program = join(home.base, 'host.mjs');
    // It starts `run` with its own pipes, which are those of this process: they live on.
    const args = `[${JSON.stringify(ROOTSD)}, ...process.argv.slice(2)]`;
    home.put(
      program,
      `import { spawn } from 'node:child_process';\nspawn(process.execPath, ${args}, { stdio: 'inherit' });\n`,
    );
    const host = await asked(t, home, program);
    await onlyQuestion(home);
    host.process.kill('SIGKILL');
    await isWithdrawn(home);
  });
});

describe('a question at several hosts', () => {
  it('is shown at each whose session asks the same; the first answer counts for all', async (t) => {
    const home = await serve(t);
    const [one, two] = [await asked(t, home), await asked(t, home)];
    assert.equal((await onlyQuestion(home)).count, 2);
    const { id } = await two.next(isElicitation);
    two.send({ id, result: { action: 'accept', content: { answer: 'session' } } });
    const { params } = await one.next(({ method }) => method === 'notifications/cancelled');
    assert.equal((params as Json).requestId, (await one.next(isElicitation)).id);
    const { grants, history, pending } = await list(home);
    assert.deepEqual([grants.length, history.length, pending], [2, 2, []]);
  });
});
