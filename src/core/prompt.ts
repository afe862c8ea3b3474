// Prompts that the policy declares.

import type { UserSelector } from './rule.ts';

/** Who may see something; what is omitted is anybody. */
export interface Audience {
  readonly servers?: readonly string[];
  readonly hosts?: readonly string[];
  readonly users?: readonly UserSelector[];
}

export interface PromptValue {
  readonly value: string;
  readonly audience: Audience;
}

/** Where the values of an argument come from. */
export type ValueSource =
  | { readonly kind: 'free' }
  | { readonly kind: 'values'; readonly values: readonly PromptValue[] }
  /** The values for each value of another argument. */
  | {
      readonly kind: 'cases';
      readonly dependsOn: string;
      readonly cases: readonly { readonly of: string; readonly values: readonly PromptValue[] }[];
    }
  | { readonly kind: 'roots' }
  | {
      readonly kind: 'paths';
      readonly what: 'files' | 'directories' | 'any';
      /** The argument that names the root. */
      readonly within?: string;
      readonly glob?: string;
    };

export interface PromptArgument {
  readonly name: string;
  readonly description?: string;
  readonly required: boolean;
  readonly source: ValueSource;
}

export interface Prompt {
  readonly name: string;
  readonly description?: string;
  readonly audience: Audience;
  readonly arguments: readonly PromptArgument[];
  /** `{name}` stands for an argument. */
  readonly template: string;
}
