import { z } from 'zod';
import type { EventKind, EventRegistry } from '#kernel';
import { toCloudEventType } from '../publishing/cloud-event.js';

export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * The JSON Schema of every event's data, by event type. Draft 7, because AsyncAPI's own schema language is built on it:
 * one schema serves consumers and the AsyncAPI document. The store writes parsed data only, hence `output`.
 */
export const buildEventSchemas = (registry: EventRegistry): Readonly<Record<string, JsonSchema>> =>
  Object.fromEntries(Object.entries(registry).map(([type, kind]) => [type, buildSchema(type, kind)]));

const buildSchema = (type: string, kind: EventKind<never>): JsonSchema => {
  // The kernel imports nothing and knows a schema as something that parses; told in the open it must be zod.
  const schema: unknown = kind.schema;
  if (!(schema instanceof z.ZodType)) throw new Error(`the schema of ${type} is not a zod schema`);
  const { $schema, ...body } = z.toJSONSchema(schema, { target: 'draft-7', io: 'output' });
  return {
    $schema,
    $id: `urn:cadastre:event:${type}:v${kind.schemaVersion}`,
    title: toCloudEventType(type, kind.schemaVersion),
    ...body,
  };
};
