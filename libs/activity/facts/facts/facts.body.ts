import { z } from 'zod';
import { formatTimestamp, type Timestamp } from '#platform/kernel';
import { isoTime, parseBody } from '#api/json-api';
import type { Fact } from './fact.js';
import { CATALOGUE, formatRowName, OWN_RESOURCE_TYPES, CATALOGUE_ROWS, type CatalogueRow } from './facts.catalogue.js';

export const MAX_FACTS_PER_REQUEST = 1_000;
const FACT_MAX_BYTES = 64 * 1_024;
/** Deeper than any row of the catalogue. Unlimited nesting would exhaust the stack when the fact is serialized. */
const MAX_DEPTH = 32;

/** A short text in one line, of visible characters only. */
const word = (most: number) =>
  z
    .string()
    .min(1, { error: "can't be blank" })
    .max(most, { error: `too long, at most ${most} characters` })
    .regex(/^[^\p{C}\p{Z}]+$/u, { error: 'Must be one word, without spaces' });

const line = (most: number) => z.string().max(most, { error: `too long, at most ${most} characters` });

const time = isoTime('Time must be an ISO 8601 timestamp, such as 2026-01-31T12:30:15.123Z').transform(
  (text): Timestamp => formatTimestamp(Date.parse(text)),
);

const envelope = {
  source: word(200),
  id: word(200),
  time,
  auth: z.strictObject({
    accessor_id: word(200),
    description: line(500),
    type: z.enum(['Client', 'Impersonated', 'System']),
    impersonator_id: word(200).nullable().default(null),
  }),
  request: z.strictObject({ id: z.guid().nullable().default(null) }).default({ id: null }),
};

/** Returns the schema of a resource with any of these actions. */
export const buildResourceSchema = (type: string, actions: readonly string[], meta: z.ZodType) =>
  z.strictObject({ id: word(500), type: z.literal(type), action: z.literal(actions), meta });

export const buildFactSchema = (resource: z.ZodType) => z.strictObject({ ...envelope, resource });

const buildRowSchema = ({ type, action, meta }: CatalogueRow) =>
  buildFactSchema(buildResourceSchema(type, [action], meta));

const SCHEMAS: ReadonlyMap<string, z.ZodType> = new Map(
  CATALOGUE_ROWS.map((row) => [formatRowName(row), buildRowSchema(row)]),
);

const listActions = (type: string): readonly string[] => Object.keys(CATALOGUE[type as keyof typeof CATALOGUE]);

/** Explains which part of the resource matches no row of the catalogue. */
const unknownResource = z.object({ type: z.string(), action: z.string() }).superRefine(({ type, action }, context) => {
  if (OWN_RESOURCE_TYPES.has(type)) {
    const message = `Type ${type} belongs to Cadastre. Other services cannot report facts about it`;
    context.addIssue({ code: 'custom', path: ['type'], message });
  } else if (!Object.hasOwn(CATALOGUE, type)) {
    const message = `Type must be one of ${Object.keys(CATALOGUE).join(', ')}`;
    context.addIssue({ code: 'custom', path: ['type'], message });
  } else {
    const message = `Action of ${type} must be one of ${listActions(type).join(', ')}`;
    context.addIssue({ code: 'custom', path: ['action'], message: `${message}, and not ${action.slice(0, 50)}` });
  }
});

const UNKNOWN = buildFactSchema(unknownResource);

const resourceProbe = z.object({ resource: z.object({ type: z.string(), action: z.string() }) });

const isTooDeep = (value: unknown): boolean => {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return true;
    level = level.flatMap((each): unknown[] => (typeof each === 'object' && each !== null ? Object.values(each) : []));
  }
  return false;
};

const describeOversize = (raw: unknown): string | null => {
  if (isTooDeep(raw)) return `The fact is nested more than ${MAX_DEPTH} levels deep`;
  const bytes = Buffer.byteLength(JSON.stringify(raw) ?? '');
  return bytes > FACT_MAX_BYTES ? `The fact is too large, at most ${FACT_MAX_BYTES / 1_024} KiB` : null;
};

/** Chooses the schema by the row that the fact names, so that errors point to fields of that row. */
const fact: z.ZodType<Fact> = z.unknown().transform((raw, context): Fact => {
  const detail = describeOversize(raw);
  if (detail !== null) {
    context.issues.push({ code: 'custom', message: detail, input: raw });
    return z.NEVER;
  }
  const { data: probe } = resourceProbe.safeParse(raw);
  const schema = (probe && SCHEMAS.get(formatRowName(probe.resource))) ?? UNKNOWN;
  const result = schema.safeParse(raw, { reportInput: true });
  if (result.success) return result.data as Fact;
  for (const issue of result.error.issues) context.issues.push({ ...issue, path: [...issue.path] } as never);
  return z.NEVER;
});

const batch = z.strictObject({
  facts: z
    .array(fact)
    .min(1, { error: "can't be blank" })
    .max(MAX_FACTS_PER_REQUEST, { error: `too many, at most ${MAX_FACTS_PER_REQUEST} of them` }),
});

/**
 * Parses one fact, or `{ "facts": [ … ] }`. Throws a refusal that lists the problems of every fact if any is invalid.
 */
export const parseFacts = (body: unknown): readonly Fact[] => {
  if (typeof body === 'object' && body !== null && 'facts' in body) return parseBody(batch, body).facts;
  return [parseBody(fact, body)];
};

export const parseFact = (raw: unknown): Fact => parseBody(fact, raw);

/** JSON Schemas of all facts by row name, in draft 7 like those of events. */
export const factSchemas: Readonly<Record<string, Readonly<Record<string, unknown>>>> = Object.fromEntries(
  CATALOGUE_ROWS.map((row) => {
    const { $schema, ...schema } = z.toJSONSchema(buildRowSchema(row), { target: 'draft-7', io: 'input' });
    const name = formatRowName(row);
    return [name, { $schema, $id: `urn:cadastre:fact:${name}`, title: name, ...schema }];
  }),
);
