// A session of the endpoint on real directories, without a daemon.
import type { TestContext } from 'node:test';
import { gatherEvidence } from '../../src/core/evidence.ts';
import type { Peer } from '../../src/core/peer.ts';
import { composePolicy, pathsOf } from '../../src/core/policy.ts';
import { circumstancesOf } from '../../src/core/standing.ts';
import { buildView } from '../../src/core/view.ts';
import type { FetchRequest } from '../../src/disk/fetch-place.ts';
import { kernelWalk } from '../../src/disk/kernel-walk.ts';
import { MountTable } from '../../src/disk/mounts.ts';
import { PlaceFetcher } from '../../src/disk/place-fetcher.ts';
import { resolvePath } from '../../src/disk/resolve.ts';
import { openRootWatcher } from '../../src/disk/watch-roots.ts';
import type { EndpointSession, Sight } from '../../src/mcp/endpoint-session.ts';
import { layerFrom, peer } from './policy.ts';

export interface TestSession extends EndpointSession {
  /** What has been fetched, in order. */
  readonly fetched: FetchRequest[];
  /** Puts another policy in force. */
  policy(text: string): void;
}

/** `text`: a policy, without its version. */
export function endpointSession(t: Pick<TestContext, 'after'>, text: string, who: Peer = peer('rootsd')): TestSession {
  const fetcher = new PlaceFetcher({ walk: kernelWalk(), mounts: new MountTable() });
  t.after(() => fetcher.close());
  const client = new AbortController().signal;
  const fetched: FetchRequest[] = [];
  let sight = sightOf(text, who);
  return {
    id: 'test',
    fetched,
    sight: () => sight,
    fetch(request) {
      fetched.push(request);
      return fetcher.fetch(request, client);
    },
    async resolve(path) {
      const resolved = resolvePath(path);
      return resolved.ok ? { ok: true, path: resolved.path } : resolved;
    },
    async request() {},
    policy(other) {
      sight = sightOf(other, who);
    },
  };
}

function sightOf(text: string, who: Peer): Sight {
  const policy = composePolicy([layerFrom(text)]);
  using watcher = openRootWatcher({
    declarations: policy.roots,
    patterns: pathsOf(policy),
    readProject: () => undefined,
    onChange: () => {},
    onWarning: () => {},
  });
  const evidence = gatherEvidence(policy, watcher.places());
  const circumstances = circumstancesOf(evidence, who);
  return { peer: who, evidence, circumstances, view: buildView(evidence, who, circumstances) };
}
