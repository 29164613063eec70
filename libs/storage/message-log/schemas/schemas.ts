import { z } from 'zod';
import type { AnyEventKind, EventRegistry } from '#platform/kernel';
import { toCloudEventType } from '../topics/cloud-event.js';

export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Returns the JSON Schema of every event's data, by event type. AsyncAPI's own schema language is built on draft 7, so
 * one schema serves consumers and the AsyncAPI document. The store writes only parsed data, so the schemas describe
 * `output`.
 */
export const buildEventSchemas = (registry: EventRegistry): Readonly<Record<string, JsonSchema>> =>
  Object.fromEntries(Object.entries(registry).map(([type, kind]) => [type, buildSchema(type, kind)]));

const buildSchema = (type: string, kind: AnyEventKind): JsonSchema => {
  // The kernel imports no library and knows a schema only as an object with `parse`. Here it must be zod.
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
