import { createHash } from 'node:crypto';
import { z } from 'zod';
import { unprocessable } from '#kernel';
import { parseBody, resourceBody, toOneInput } from '#json-api';

/** Line breaks are fine: `base64` at the command line makes them. */
const compact = (text: string): string => text.replaceAll(/\s/g, '');

/**
 * Node's own decoder skips what it does not know, so it would store something else than was sent. Not one pattern for
 * the whole: states have hundreds of megabytes, and the pattern's repetition would need a stack of that size.
 */
const isBase64 = (text: string): boolean => {
  const letters = compact(text);
  const padding = letters.endsWith('==') ? 2 : letters.endsWith('=') ? 1 : 0;
  return letters.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(letters.slice(0, letters.length - padding));
};

const base64 = (name: string) =>
  z
    .string()
    .refine(isBase64, { error: `${name} must be Base64` })
    .nullish();

const decoded = (text: string | null | undefined): Buffer | null =>
  text ? Buffer.from(compact(text), 'base64') : null;

/** clients.md §4. `json-state-outputs` is checked and left: outputs are read from the state itself. */
const createBody = resourceBody(
  'state-versions',
  z.object({
    serial: z.int().min(0),
    md5: z.string().regex(/^[0-9a-f]{32}$/i, { error: 'Md5 must be 32 hexadecimal digits' }),
    lineage: z.string().max(255).nullish(),
    force: z.boolean().nullish(),
    state: base64('State'),
    'json-state': base64('Json state'),
    'json-state-outputs': base64('Json state outputs'),
  }),
  z.object({ run: toOneInput }).optional(),
);

const rollbackBody = resourceBody(
  'state-versions',
  z.unknown().optional(),
  z.object({ 'rollback-state-version': z.object({ data: z.object({ id: z.string() }) }) }),
);

/** The id of the version that is to be brought back. */
export const rolledBack = (body: unknown): string =>
  parseBody(rollbackBody, body).data.relationships['rollback-state-version'].data.id;

export type NewStateVersion = {
  readonly serial: number;
  readonly md5: string;
  readonly lineage: string | null;
  readonly force: boolean;
  readonly run: string | null;
  readonly state: Buffer | null;
  readonly jsonState: Buffer | null;
};

export const newStateVersion = (body: unknown): NewStateVersion => {
  const { attributes, relationships } = parseBody(createBody, body).data;
  const { serial, lineage } = attributes;
  const state = decoded(attributes.state);
  const md5 = attributes.md5.toLowerCase();
  if (state && createHash('md5').update(state).digest('hex') !== md5) {
    throw unprocessable('Md5 is not that of the state', 'md5');
  }
  return {
    serial,
    md5,
    lineage: lineage || null,
    force: attributes.force ?? false,
    run: relationships?.run?.data?.id || null,
    state,
    jsonState: decoded(attributes['json-state']),
  };
};
