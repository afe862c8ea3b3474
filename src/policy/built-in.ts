// What holds whatever anybody writes (docs/policy.md, "Files and layers"): the uppermost layer, made from who the user is.

import { ANY, componentsOf, type Expansions, literalPattern, type PathPattern } from '../core/pattern.ts';
import type { LayerPolicy } from '../core/policy.ts';
import type { Rule, Target } from '../core/rule.ts';
import { widePlaces } from './wide-places.ts';

export interface BuiltInOptions {
  readonly expansions: Expansions;
  /** rootsd's own directories: configuration, state, runtime. Absolute. */
  readonly own: readonly string[];
  /** The real place of the home where it is a link: as much the user's own as the name. */
  readonly realHome?: string;
}

const SENSITIVE = [
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.kube',
  '.docker',
  '.config/gh',
  '.config/gcloud',
  '.netrc',
  '.npmrc',
  '.pypirc',
  '.git-credentials',
  '.password-store',
  // Keyrings
  '.local/share/keyrings',
  '.local/share/kwalletd',
  '.kde/share/apps/kwallet',
  '.gnome2/keyrings',
  'Library/Keychains',
  // Browser profiles
  '.mozilla',
  '.librewolf',
  '.thunderbird',
  '.config/google-chrome',
  '.config/google-chrome-beta',
  '.config/chromium',
  '.config/BraveSoftware',
  '.config/microsoft-edge',
  '.config/vivaldi',
  '.config/opera',
  'snap/firefox',
  'snap/chromium',
  '.var/app/org.mozilla.firefox',
  '.var/app/org.chromium.Chromium',
  '.var/app/com.google.Chrome',
  '.var/app/com.brave.Browser',
  'Library/Application Support/Firefox',
  'Library/Application Support/Google/Chrome',
  'Library/Application Support/Chromium',
  'Library/Application Support/BraveSoftware',
  'Library/Application Support/Microsoft Edge',
  'Library/Safari',
];

/** Credential stores, keyrings and browser profiles of the user: an allow counts as a mandatory ask. */
export function sensitivePlaces({ home }: Expansions): readonly PathPattern[] {
  return SENSITIVE.map((place) => literalPattern(`${home}/${place}`, `~/${place}`));
}

/** The built-in layer. */
export function builtInLayer({ expansions, own, realHome = expansions.home }: BuiltInOptions): LayerPolicy {
  const rules = [
    deny('system', 'Places of the system are never exposed', {
      targets: ['/proc', '/sys', '/dev', '/boot', '/run'].map((path) => literalPattern(path)),
      except: [literalPattern('/run/media'), literalPattern(`/run/user/${expansions.uid}/gvfs`)],
    }),
    deny('homes', 'Homes of other users are never exposed', {
      targets: [...['/home', '/Users', '/var/home'].map((path) => allIn(path)), literalPattern('/root')],
      except: [expansions.home, realHome].filter(isOneHome).map((home) => literalPattern(home)),
    }),
    deny('rootsd', 'The files of rootsd itself are never exposed', {
      targets: own.map((path) => literalPattern(path)),
      except: [],
    }),
  ];
  return {
    layer: 'built-in',
    files: [],
    roots: [],
    servers: [],
    hosts: [],
    rules: rules.filter((rule) => rule.targets.length > 0),
    ceilings: [],
    sensitive: sensitivePlaces(expansions),
    neverRoots: widePlaces([expansions.home, realHome]).map(({ pattern }) => pattern),
    tests: [],
    prompts: [],
  };
}

interface Places {
  readonly targets: readonly PathPattern[];
  readonly except: readonly PathPattern[];
}

function deny(id: string, reason: string, { targets, except }: Places): Rule {
  const paths = (patterns: readonly PathPattern[]) => patterns.map((pattern): Target => ({ kind: 'path', pattern }));
  return {
    id: `built-in:${id}`,
    effect: 'deny',
    targets: paths(targets),
    except: paths(except),
    access: 'read-only',
    reason,
    scopes: [],
    mandatory: false,
    approver: 'user',
    source: { layer: 'built-in', file: 'built-in', line: 1, column: 1 },
  };
}

function allIn(path: string): PathPattern {
  return { text: `${path}/*`, components: [...componentsOf(path), ANY] };
}

/** A home that holds other homes must not be an exception to their being denied. */
function isOneHome(home: string): boolean {
  return !['/', '/home', '/Users', '/var', '/var/home'].includes(`/${componentsOf(home).join('/')}`);
}
