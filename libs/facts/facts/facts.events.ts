import { z } from 'zod';
import type { EventContext, EventKinds, PersonalText } from '#kernel';
import type { AuditedResource, FactEvent } from './fact.js';

/** Fields of the catalogue that name somebody (§6.2). Whom, they do not say: it is known where it is who did it. */
const NAMING = ['actor', 'run_created_by'];

const listNames = (
  meta: AuditedResource['meta'],
  { id: person, type, name }: EventContext['accessor'],
): PersonalText[] =>
  type === 'users' && meta !== null
    ? NAMING.filter((field) => meta[field] === name).map((field) => ({
        at: ['resource', 'meta', field],
        person,
        kind: 'name',
      }))
    : [];

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
    personal: ({ resource: { meta } }, { context: { accessor } }) => listNames(meta, accessor),
    audit: {
      resource: ({ resource: { type } }) => type,
      action: ({ resource: { action } }) => action,
      id: ({ resource: { id } }) => id,
      meta: ({ resource: { meta } }) => meta,
    },
  },
};
