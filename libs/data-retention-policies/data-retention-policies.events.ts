import { z } from 'zod';
import type { EventKinds, RecordedEvent } from '#kernel';
import type { DataRetentionPolicyEvent, RetentionTarget } from './data-retention-policy.js';

const RETENTION_FIELDS = { organizationName: z.string(), deleteOlderThanDays: z.int().nullable() };

const target = z.strictObject({
  type: z.enum(['workspaces', 'organizations']),
  id: z.string(),
}) satisfies z.ZodType<RetentionTarget>;

type RetentionMeta = { readonly organizationName: string; readonly deleteOlderThanDays: number | null };

/**
 * Returns the fields of the contract's catalogue (§6.2). Days are greater than 0 there, so an unlimited policy has
 * none.
 */
const describePolicy = ({ organizationName, deleteOlderThanDays }: RetentionMeta, { organization }: RecordedEvent) => ({
  ...(deleteOlderThanDays === null ? {} : { delete_older_than_n_days: deleteOlderThanDays }),
  organization: organizationName,
  organization_id: organization,
});

export const retentionEvents: EventKinds<DataRetentionPolicyEvent> = {
  DataRetentionPolicySet: {
    schemaVersion: 1,
    topic: 'data-retention-policies',
    schema: z.strictObject({ target, ...RETENTION_FIELDS }),
    audit: {
      resource: 'data_retention_policy',
      action: 'create',
      meta: (data, event) => ({
        ...describePolicy(data, event),
        ...(data.target.type === 'workspaces' ? { workspace_id: data.target.id } : {}),
      }),
    },
  },
  DataRetentionPolicyChanged: {
    schemaVersion: 1,
    topic: 'data-retention-policies',
    schema: z.strictObject(RETENTION_FIELDS),
    audit: { resource: 'data_retention_policy', action: 'update', meta: describePolicy },
  },
  DataRetentionPolicyRemoved: {
    schemaVersion: 1,
    topic: 'data-retention-policies',
    schema: z.strictObject(RETENTION_FIELDS),
    audit: { resource: 'data_retention_policy', action: 'destroy', meta: describePolicy },
  },
};
