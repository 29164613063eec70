import { z } from 'zod';
import type { EventKinds } from '#kernel';
import type { FactEvent } from './fact.js';

/** What was checked against the row of the catalogue when it came; what is in the log stays, should the row ever change. */
const resource = z.strictObject({
  id: z.string(),
  type: z.string(),
  action: z.string(),
  meta: z.record(z.string(), z.unknown()).nullable(),
});

/** Schema, topic and audit row of facts. The topic is not the one that they come in by: nothing goes round in circles. */
export const factEvents: EventKinds<FactEvent> = {
  AuditFactReported: {
    schemaVersion: 1,
    topic: 'recorded-facts',
    schema: z.strictObject({
      source: z.string(),
      fact: z.string(),
      occurredAt: z.string(),
      resource,
      reportedBy: z.strictObject({ type: z.string(), id: z.string() }),
    }),
    audit: {
      resource: ({ resource: { type } }) => type,
      action: ({ resource: { action } }) => action,
      id: ({ resource: { id } }) => id,
      meta: ({ resource: { meta } }) => meta,
    },
  },
};
