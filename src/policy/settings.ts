// What rootsd.yaml says, with defaults filled in and units resolved.

import type { PolicyDirectories } from '../core/directories.ts';
import type { LogLevel } from '../core/log-event.ts';
import { CONFIG_DEFAULTS } from './config-defaults.ts';
import { type Pointer, pointerTo } from './yaml-file.ts';

export type ConsentChannel = 'host' | 'agent' | 'desktop';

export interface Listener {
  readonly name: string;
  /** Absolute, or relative to the directory of the sockets. */
  readonly path: string;
  /** File mode bits. */
  readonly mode: number;
  readonly speaks: 'server' | 'client';
}

export interface Settings {
  /** Absolute directories. */
  readonly layers: { readonly system: string; readonly user: string };
  readonly listeners: readonly Listener[];
  readonly limits: { readonly messageBytes: number; readonly sessions: number; readonly queueBytes: number };
  readonly log: { readonly level: LogLevel };
  /** `file`: absolute, or relative to the state directory. */
  readonly audit: { readonly file: string; readonly sizeBytes: number; readonly keep: number };
  readonly consent: {
    readonly timeoutMs: number;
    readonly channels: readonly ConsentChannel[];
    readonly askpass?: string;
  };
}

/** A configuration whose schema holds. */
export interface RawConfig {
  readonly layers?: { readonly system?: string; readonly user?: string };
  readonly listeners?: Readonly<
    Record<string, { readonly path: string; readonly mode?: string; readonly speaks?: 'server' | 'client' }>
  >;
  readonly limits?: { readonly message?: string; readonly sessions?: number; readonly queue?: string };
  readonly log?: { readonly level?: LogLevel };
  readonly audit?: { readonly file?: string; readonly size?: string; readonly keep?: number };
  readonly consent?: {
    readonly timeout?: string;
    readonly channels?: readonly ConsentChannel[];
    readonly askpass?: string;
  };
}

/** Turns the paths of a configuration into those that are used. */
export interface ConfigPaths {
  absolute(pointer: Pointer, text: string): string;
  /** A path that may be relative to a directory which is known later. */
  relative(pointer: Pointer, text: string): string;
}

/** What holds without a file. */
export function defaultSettings(directories: PolicyDirectories): Settings {
  const asIs = (_: Pointer, text: string) => text;
  return settingsOf({}, { absolute: asIs, relative: asIs }, directories);
}

/** Fills in what a configuration leaves out; `directories`: where policies lie where it says nothing. */
export function settingsOf(raw: RawConfig, paths: ConfigPaths, directories: PolicyDirectories): Settings {
  const { layers = {}, listeners = {}, limits = {}, log = {}, audit = {}, consent = {} } = raw;
  const { askpass } = consent;
  return {
    layers: {
      system: layers.system === undefined ? directories.system : paths.absolute('/layers/system', layers.system),
      user: layers.user === undefined ? directories.user : paths.absolute('/layers/user', layers.user),
    },
    listeners: Object.entries(listeners).map(([name, { path, mode, speaks }]) => ({
      name,
      path: paths.relative(pointerTo(pointerTo('/listeners', name), 'path'), path),
      mode: Number.parseInt(mode ?? CONFIG_DEFAULTS.listenerMode, 8),
      speaks: speaks ?? 'server',
    })),
    limits: {
      messageBytes: parseSize(limits.message ?? CONFIG_DEFAULTS.message),
      sessions: limits.sessions ?? CONFIG_DEFAULTS.sessions,
      queueBytes: parseSize(limits.queue ?? CONFIG_DEFAULTS.queue),
    },
    log: { level: log.level ?? CONFIG_DEFAULTS.logLevel },
    audit: {
      file: paths.relative('/audit/file', audit.file ?? CONFIG_DEFAULTS.auditFile),
      sizeBytes: parseSize(audit.size ?? CONFIG_DEFAULTS.auditSize),
      keep: audit.keep ?? CONFIG_DEFAULTS.auditKeep,
    },
    consent: {
      timeoutMs: parseDuration(consent.timeout ?? CONFIG_DEFAULTS.consentTimeout),
      channels: consent.channels ?? CONFIG_DEFAULTS.consentChannels,
      ...(askpass === undefined ? {} : { askpass: paths.absolute('/consent/askpass', askpass) }),
    },
  };
}

const UNIT_BYTES: Readonly<Record<string, number>> = { KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };
const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** `4MiB` in bytes; the schema has seen to the form. */
export function parseSize(text: string): number {
  return Number.parseInt(text, 10) * (UNIT_BYTES[text.replace(/^\d+/, '')] ?? Number.NaN);
}

/** `60s` in milliseconds; the schema has seen to the form. */
export function parseDuration(text: string): number {
  return Number.parseInt(text, 10) * (UNIT_MS[text.replace(/^\d+/, '')] ?? Number.NaN);
}
