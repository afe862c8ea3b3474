// The shape of a policy file's value once its schema holds. Types only; the schema is what checks.

import type { Access } from '../core/access.ts';
import type { Kind } from '../core/decision.ts';
import type { PeerClass } from '../core/peer.ts';
import type { Effect } from '../core/rule.ts';
import type { Channel, ConfigFormat, Meaning } from '../core/server-traits.ts';

export interface RawRoot {
  readonly path: string;
  readonly title?: string;
  readonly access?: Access;
  readonly having?: readonly string[];
  readonly kind?: 'directory' | 'file';
  readonly symlinks?: 'inside' | 'none';
  readonly nested?: 'withhold' | 'carve';
  readonly sensitive?: boolean;
}

export interface RawHost {
  readonly command?: string | readonly string[];
  readonly socket?: string;
  readonly exe?: string;
  readonly sha256?: string;
  readonly require?: PeerClass;
}

export type RawChannelKind = Channel['kind'];

/** A channel whose schema holds: a word, or a map. */
export type RawChannel =
  | RawChannelKind
  | ({ readonly empty?: Meaning; readonly error?: Meaning } & (
      | { readonly kind: 'roots' | 'argv' | 'cwd' }
      | {
          readonly kind: 'env';
          readonly name: string;
          readonly separator?: string;
          readonly json?: true;
          readonly value?: string;
        }
      | {
          readonly kind: 'config';
          readonly path: string;
          readonly key: string | readonly string[];
          readonly format?: ConfigFormat;
        }
    ));

export interface RawServer extends RawHost {
  readonly roots?: 'on' | 'off';
  readonly 'host-roots'?: 'narrow' | 'ignore';
  readonly guard?: 'on' | 'off' | 'strict';
  readonly paths?: readonly string[];
  readonly channels?: readonly RawChannel[];
  readonly confine?: 'none' | 'best-effort' | 'required';
}

export interface RawRule {
  readonly id: string;
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
  readonly except?: readonly string[];
  readonly servers?: readonly string[];
  readonly hosts?: readonly string[];
  readonly users?: readonly string[];
  readonly access?: Access;
  readonly until?: string;
  readonly reason?: string;
  readonly scopes?: readonly string[];
  readonly mandatory?: boolean;
  readonly approver?: 'user' | 'admin';
}

export type RawCeilingItem = string | { readonly path: string; readonly access?: Access };

export interface RawTest {
  readonly server?: string;
  readonly claims?: string;
  readonly host?: string;
  readonly user?: string;
  readonly root?: string;
  readonly path?: string;
  readonly expect: Effect;
  readonly access?: Access;
  readonly rule?: string;
  readonly kind?: Kind;
}

export interface RawVisibility {
  readonly servers?: readonly string[];
  readonly hosts?: readonly string[];
  readonly users?: readonly string[];
}

export type RawValue = string | { readonly value: string; readonly 'visible-to'?: RawVisibility };

export interface RawArgument {
  readonly description?: string;
  readonly required?: boolean;
  readonly values?: readonly RawValue[] | Readonly<Record<string, readonly RawValue[]>>;
  readonly 'depends-on'?: string;
  readonly roots?: boolean;
  readonly paths?: 'files' | 'directories' | 'any';
  readonly within?: string;
  readonly glob?: string;
}

export interface RawPrompt {
  readonly description?: string;
  readonly 'visible-to'?: RawVisibility;
  readonly arguments?: Readonly<Record<string, RawArgument>>;
  readonly template: string;
}

/** Sections that map names to entries. */
export interface RawMaps {
  readonly roots: RawRoot;
  readonly servers: RawServer;
  readonly hosts: RawHost;
  readonly prompts: RawPrompt;
}

/** Sections that are lists. */
export interface RawLists {
  readonly rules: RawRule;
  readonly ceiling: RawCeilingItem;
  readonly tests: RawTest;
}
