import { z } from 'zod';
import { defineEvents, type EventContext, type EventKinds, type PersonalText } from '#platform/kernel';
import type { AuditedResource, FactEvent } from './fact.js';

/**
 * Fields of the catalogue that contain a person's name without an id. The person is known only if the name is that of
 * the accessor.
 */
const NAME_FIELDS = ['actor', 'run_created_by'];

const listNames = (
  meta: AuditedResource['meta'],
  { id: person, type, name }: EventContext['accessor'],
): PersonalText[] =>
  type === 'users' && meta !== null
    ? NAME_FIELDS.filter((field) => meta[field] === name).map((field) => ({
        at: ['resource', 'meta', field],
        person,
        kind: 'name',
      }))
    : [];

/** Not checked against the catalogue, because the log keeps facts of rows that have changed since. */
const resource = z.strictObject({
  id: z.string(),
  type: z.string(),
  action: z.string(),
  meta: z.record(z.string(), z.unknown()).nullable(),
});

/** The event of a fact. Its topic differs from the incoming one, so that recorded facts are not consumed again. */
export const factEvents = defineEvents(
  { topic: 'recorded-facts', stream: 'facts', live: { unsent: 'a report about something that Cadastre does not own' } },
  {
    AuditFactReported: {
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
  },
) satisfies EventKinds<FactEvent>;
