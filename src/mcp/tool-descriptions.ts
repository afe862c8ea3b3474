import type { ListToolsResult } from '@modelcontextprotocol/server';

type Tool = ListToolsResult['tools'][number];
const ACCESS = { type: 'string', enum: ['read-only', 'read-write'] };
const ACCESS_OR_NULL = { type: ['string', 'null'], enum: ['read-only', 'read-write', null] };
const PATH = { type: 'string', description: 'An absolute path or a file: URI', examples: ['/home/ana/repos/a'] };
const WHY = { type: 'string', description: 'The reason, in a sentence' };

export const LIST_ROOTS: Tool = {
  name: 'list_roots',
  title: 'List roots',
  description: 'The directories that this session may use, and how',
  inputSchema: { type: 'object', additionalProperties: false },
  outputSchema: {
    type: 'object',
    properties: {
      roots: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            title: { type: 'string' },
            uri: { type: 'string' },
            path: { type: 'string' },
            access: ACCESS,
          },
          required: ['name', 'title', 'uri', 'path', 'access'],
        },
      },
    },
    required: ['roots'],
  },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
};

export const CHECK_PATH: Tool = {
  name: 'check_path',
  title: 'Check a path',
  description: 'Whether this session may use a path, and why',
  inputSchema: { type: 'object', properties: { path: PATH }, required: ['path'], additionalProperties: false },
  outputSchema: {
    type: 'object',
    properties: {
      verdict: {
        type: 'string',
        enum: ['inside', 'outside', 'invalid'],
        description: 'inside: in one of the roots; outside: elsewhere; invalid: not a path that can be judged',
      },
      effect: { type: 'string', enum: ['allow', 'ask', 'deny'] },
      access: ACCESS_OR_NULL,
      root: { type: ['string', 'null'], description: 'The name of the root it lies in' },
      why: WHY,
    },
    required: ['verdict', 'effect', 'access', 'root', 'why'],
  },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
};

export const REQUEST_ACCESS: Tool = {
  name: 'request_access',
  title: 'Request access',
  description:
    'Asks for a path that this session may not use yet; a person decides where the policy lets a person decide',
  inputSchema: {
    type: 'object',
    properties: { path: PATH, access: { ...ACCESS, default: 'read-only' } },
    required: ['path'],
    additionalProperties: false,
  },
  outputSchema: {
    type: 'object',
    properties: {
      state: { type: 'string', enum: ['granted', 'denied', 'undecided'] },
      access: ACCESS_OR_NULL,
      why: WHY,
    },
    required: ['state', 'access', 'why'],
  },
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
};

export const TOOLS: readonly Tool[] = [LIST_ROOTS, CHECK_PATH, REQUEST_ACCESS];
