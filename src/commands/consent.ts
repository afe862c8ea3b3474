// `rootsd consent`: what people are asked, what they have answered, and answering it. All of it is the daemon's to say.

import { requestControl } from '../client/control.ts';
import { escapeForTerminal } from '../core/display.ts';
import { RootsError } from '../core/errors.ts';
import { METHOD } from '../core/protocol.ts';
import type { AnswerReply, ResetReply, RevokeReply } from '../daemon/consent-control.ts';
import type { ConsentReply, ShownConsent } from '../daemon/consent-rows.ts';
import { askAtTerminal } from './ask-at-terminal.ts';
import { EXIT, type Io, printJson, printLine } from './io.ts';
import { type LocateOptions, locateMachine } from './machine.ts';
import { grantLines, historyLines, pendingLines, shownLines } from './print-consents.ts';

interface ConsentOptions extends LocateOptions {
  readonly format: string;
}

export interface ListOptions extends ConsentOptions {
  readonly pending?: boolean;
  readonly grants?: boolean;
  readonly history?: boolean;
}

export interface AnswerOptions extends ConsentOptions {
  readonly scope?: string;
  readonly access?: string;
  readonly note?: string;
}

export interface RevokeOptions extends ConsentOptions {
  readonly all?: boolean;
  readonly server?: string;
  readonly root?: string;
}

/** `rootsd consent list`: all three parts, or those that are named. */
export async function consentListCommand(options: ListOptions, io: Io): Promise<number> {
  const reply = (await ask(METHOD.consentList, {}, options, io)) as ConsentReply;
  const { pending = false, grants = false, history = false } = options;
  const isAll = !pending && !grants && !history;
  const parts = [
    { isShown: isAll || pending, name: 'pending', lines: pendingLines(reply.pending), none: 'Nothing is asked' },
    { isShown: isAll || grants, name: 'grants', lines: grantLines(reply.grants), none: 'No grants' },
    { isShown: isAll || history, name: 'history', lines: historyLines(reply.history), none: 'No history' },
  ].filter(({ isShown }) => isShown);
  if (options.format === 'json') {
    printJson(io, Object.fromEntries(parts.map(({ name }) => [name, reply[name as keyof ConsentReply]])));
    return EXIT.yes;
  }
  for (const [i, { lines, none }] of parts.entries()) {
    if (i > 0) printLine(io);
    print(io, lines.length === 0 ? [none] : lines);
  }
  return EXIT.yes;
}

/** `rootsd consent show ID`: one question or grant. */
export async function consentShowCommand(id: string, options: ConsentOptions, io: Io): Promise<number> {
  const reply = (await ask(METHOD.consentShow, { id }, options, io)) as ShownConsent;
  if (options.format === 'json') printJson(io, reply);
  else print(io, shownLines(reply));
  return EXIT.yes;
}

/** `rootsd consent approve ID`. */
export async function consentApproveCommand(id: string, options: AnswerOptions, io: Io): Promise<number> {
  const { scope, access, note } = options;
  const params = { id, ...named({ scope, access, note }) };
  const reply = (await answer(METHOD.consentApprove, params, options, io)) as AnswerReply;
  if (options.format === 'json') printJson(io, reply);
  else print(io, [`Approved: ${reply.given?.access}, ${reply.given?.scope}`]);
  return EXIT.yes;
}

/** `rootsd consent deny ID`. */
export async function consentDenyCommand(id: string, options: AnswerOptions, io: Io): Promise<number> {
  const reply = await answer(METHOD.consentDeny, { id, ...named({ note: options.note }) }, options, io);
  if (options.format === 'json') printJson(io, reply);
  else print(io, ['Denied']);
  return EXIT.yes;
}

/** `rootsd consent revoke`: exit 1 where nothing was meant by what is named, 75 where it could not be written down. */
export async function consentRevokeCommand(id: string | undefined, options: RevokeOptions, io: Io): Promise<number> {
  const { all, server, root } = options;
  const selection = named({ all, id, server, root });
  if (Object.keys(selection).length !== 1) {
    const what = 'Cannot tell what to revoke: give an ID or one of --all, --server and --root';
    throw new RootsError('USAGE', { what });
  }
  const reply = (await ask(METHOD.consentRevoke, selection, options, io)) as RevokeReply;
  if (options.format === 'json') printJson(io, reply);
  else print(io, reply.grants.length === 0 ? ['Nothing to revoke'] : ['Revoked:', ...grantLines(reply.grants)]);
  if (!reply.kept) throw new RootsError('CONSENT_REVOKED_NOT_KEPT');
  return reply.grants.length === 0 && all !== true ? EXIT.no : EXIT.yes;
}

/** `rootsd consent reset`: what was refused is asked again. */
export async function consentResetCommand(options: ConsentOptions, io: Io): Promise<number> {
  const reply = (await ask(METHOD.consentReset, {}, options, io)) as ResetReply;
  if (options.format === 'json') printJson(io, reply);
  else print(io, [`Refusals that are forgotten: ${reply.refusals.length}`]);
  return EXIT.yes;
}

/** `rootsd consent export`: all that is kept, as JSON. */
export async function consentExportCommand(options: ConsentOptions, io: Io): Promise<number> {
  printJson(io, await ask(METHOD.consentExport, {}, options, io));
  return EXIT.yes;
}

/** One that may be an MCP server's is asked again at the terminal, where the daemon shows a code: what is typed there counts. */
async function answer(method: string, params: object, options: ConsentOptions, io: Io): Promise<unknown> {
  try {
    return await ask(method, params, options, io);
  } catch (error) {
    const isAskedAgain = error instanceof RootsError && error.code === 'CONSENT_CODE';
    const code = isAskedAgain ? askAtTerminal('rootsd: code (empty: no answer): ') : null;
    if (code === null) throw error;
    return ask(method, { ...params, code }, options, io);
  }
}

function ask(method: string, params: object, options: ConsentOptions, io: Io): Promise<unknown> {
  const { search } = locateMachine(options, io, 'command');
  return requestControl(method, params, { search });
}

function named(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

function print(io: Io, lines: readonly string[]): void {
  for (const line of lines) printLine(io, escapeForTerminal(line));
}
