import { z } from 'zod';
import { badRequest, unprocessable } from '#platform/kernel';
import { ignoredMember, parseBody, requiredToOne, resourceBody, text, toOneInput } from '#api/json-api';
import { isBase64 } from '../reading/inline-state.js';
import { checkDeclaredContent } from '../uploads/declared-content.js';
import { unwrapOutcome, type ParsedCreateRequest, type ParsedState } from '../reading/state.parser.js';

const base64 = (name: string) =>
  z
    .string()
    .refine(isBase64, { error: `${name} must be Base64` })
    .nullish();

/** Body of a creation. */
export const createBody = resourceBody(
  'state-versions',
  z.object({
    serial: z.int().min(0),
    md5: z.string().regex(/^[0-9a-f]{32}$/i, { error: 'Md5 must be 32 hexadecimal digits' }),
    lineage: text(255).nullish(),
    force: z.boolean().nullish(),
    state: base64('State'),
    'json-state': base64('Json state'),
    'json-state-outputs': ignoredMember('outputs are read from the state'),
    'terraform-version': ignoredMember('the state names it'),
  }),
  z.object({ run: toOneInput }).optional(),
);

export const rollbackBody = resourceBody(
  'state-versions',
  z.unknown().optional(),
  z.object({ 'rollback-state-version': requiredToOne }),
);

export const parseRollback = (body: unknown): string =>
  parseBody(rollbackBody, body).data.relationships['rollback-state-version'].data.id;

export type NewStateVersion = {
  readonly serial: number;
  readonly md5: string;
  readonly lineage: string | null;
  readonly force: boolean;
  readonly run: string | null;
  readonly state: { readonly bytes: Uint8Array; readonly reading: ParsedState } | null;
  readonly jsonState: Uint8Array | null;
};

const isForbidden = (key: string, value: unknown): boolean =>
  key === '__proto__' ||
  (key === 'constructor' && typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype'));

/** Parses a body with the rules of the HTTP server: it refuses members that could change the prototype of objects. */
const parseDocument = (document: string): unknown =>
  JSON.parse(document, (key, value: unknown) => {
    if (isForbidden(key, value)) throw badRequest('The body is not valid JSON');
    return value;
  }) as unknown;

/** Returns the input of a creation. Throws `unprocessable` for invalid attributes, then for an invalid state. */
export const parseNewStateVersion = ({ document, state, jsonState }: ParsedCreateRequest): NewStateVersion => {
  const { attributes, relationships } = parseBody(createBody, parseDocument(document)).data;
  const { serial, lineage } = attributes;
  const md5 = attributes.md5.toLowerCase();
  if (state && state.md5 !== md5) throw unprocessable('Md5 does not match the state', 'md5');
  const reading = state && unwrapOutcome(state.reading);
  if (reading)
    checkDeclaredContent(
      { serial, lineage: lineage || null },
      { serial: reading.serial, lineage: reading.facts.lineage },
    );
  return {
    serial,
    md5,
    lineage: lineage || null,
    force: attributes.force ?? false,
    run: relationships?.run?.data?.id || null,
    state: state && reading && { bytes: state.bytes, reading },
    jsonState,
  };
};
