declare const ROOTSD_VERSION: string | undefined;

/** The version in package.json, put in by the build; `dev` where the source runs as it is. */
export const VERSION = typeof ROOTSD_VERSION === 'string' ? ROOTSD_VERSION : 'dev';
