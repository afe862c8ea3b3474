// How a server is started: where another boundary makes this another, it takes another process to follow.

import type { BoundaryEntry, LaunchPlan } from '../core/protocol.ts';
import { type Channel, carriersOf } from '../core/server-traits.ts';
import { expandArguments, hasPlaceholders, misfits, namedRoots } from './placeholders.ts';

type ChannelOf<K extends Channel['kind']> = Extract<Channel, { readonly kind: K }>;

/** A list in a file of the server's own settings. */
export interface SettingsList {
  readonly channel: ChannelOf<'config'>;
  readonly paths: readonly string[];
  /** false: nothing is allowed, the path is that of an empty directory. */
  readonly isGrant: boolean;
}

export interface Launch {
  readonly argv: readonly string[];
  /** Beside those that we were given ourselves. */
  readonly env: Readonly<Record<string, string>>;
  /** null: where we were started. */
  readonly cwd: string | null;
  readonly settings: SettingsList | null;
}

export interface LaunchOptions {
  /** As it was given, with its placeholders. */
  readonly command: readonly string[];
  readonly places: readonly BoundaryEntry[];
  /** All roots of the policy, told or not. */
  readonly names: readonly string[];
  readonly plan: Pick<LaunchPlan, 'channels' | 'empty'>;
  /** The path of an empty directory. */
  readonly tombstone: () => string;
}

export interface PreparedLaunch {
  /** null: there must be no process. */
  readonly launch: Launch | null;
  /** What does not reach the server, in sentences. */
  readonly warnings: readonly string[];
}

/** The launch of a command into which nothing is put. */
export function plainLaunch(command: readonly string[]): Launch {
  return { argv: command, env: {}, cwd: null, settings: null };
}

export function sameLaunch(a: Launch | null, b: Launch | null): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** The launch that carries what holds now. Throws a RootsError TOMBSTONE_FAILED. */
export function prepareLaunch(options: LaunchOptions): PreparedLaunch {
  const { command, places, names, plan, tombstone } = options;
  const [program = '', ...args] = command;
  const carriers = carriersOf(plan.channels, hasPlaceholders(args));
  const carrier = <K extends Channel['kind']>(kind: K) =>
    carriers.find((one): one is ChannelOf<K> => one.kind === kind);
  const [variable, settings] = [carrier('env'), carrier('config')];
  const variablePlaces = variable === undefined ? places : places.filter(({ path }) => travels(path, variable));
  const launch = (): Launch => ({
    argv: [program, ...expandArguments(args, places, tombstone)],
    env: variable === undefined ? {} : { [variable.name]: variableText(variable, variablePlaces, options) },
    cwd: carrier('cwd') === undefined ? null : (places[0]?.path ?? tombstone()),
    settings:
      settings === undefined
        ? null
        : { channel: settings, paths: pathsOf(places, options), isGrant: places.length > 0 },
  });
  const left = places.filter((place) => !variablePlaces.includes(place));
  const texts = variable?.value.form === 'template' ? [...args, variable.value.template] : args;
  const unknown = namedRoots(texts).filter((name) => !names.includes(name));
  return {
    launch: variablePlaces.length === 0 && plan.empty === 'stop' ? null : launch(),
    warnings: [
      ...left.map(({ root, path }) => leftOut(root, path, variable?.name ?? '')),
      ...misfits(args, places).map(({ root, path }) => leftOut(root, path, 'the arguments')),
      ...unknown.map((name) => noSuchRoot(name, names)),
    ],
  };
}

/** The list as it travels; of no places what the server takes for nothing. */
function pathsOf(places: readonly BoundaryEntry[], { plan, tombstone }: LaunchOptions): readonly string[] {
  if (places.length > 0) return places.map(({ path }) => path);
  return plan.empty === 'empty' ? [] : [tombstone()];
}

/** Can a path stand in this variable and be the same again at the other end? */
function travels(path: string, { value }: ChannelOf<'env'>): boolean {
  switch (value.form) {
    case 'list':
      return !path.includes(value.separator) && !LINE_BREAK.test(path);
    case 'json':
      return true;
    case 'template':
      return !LINE_BREAK.test(path);
  }
}

const LINE_BREAK = /[\r\n]/;

function variableText({ value }: ChannelOf<'env'>, places: readonly BoundaryEntry[], options: LaunchOptions): string {
  const paths = pathsOf(places, options);
  switch (value.form) {
    case 'list':
      return paths.join(value.separator);
    case 'json':
      return JSON.stringify(paths);
    case 'template':
      return paths.length === 0 ? '' : expandArguments([value.template], places, options.tombstone).join('');
  }
}

function leftOut(root: string, path: string, name: string): string {
  return `Root "${root}" does not reach the server: its path "${path}" cannot stand in ${name}`;
}

function noSuchRoot(name: string, names: readonly string[]): string {
  const there = names.length === 0 ? 'there is none' : `there are ${names.join(', ')}`;
  return `No root of the policy is named "${name}": an empty directory stands for "{root:${name}}" (${there})`;
}
