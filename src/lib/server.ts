// `rootsd/server`: what authors of MCP servers import. See docs/lib-server.md.

export type { Access } from '../core/access.ts';
export { RootsError } from '../core/errors.ts';
export { type OpenFlags, RootsGuard, type RootsGuardEvents, type RootsGuardOptions } from './roots-guard.ts';
export type { AnyServer, SdkServer } from './sdk.ts';
export type { GuardedRoot } from './told-list.ts';
