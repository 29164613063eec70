import { z } from 'zod';
import {
  defineEvents,
  type EventKinds,
  type IdSource,
  type RecordedEvent,
  createSubject,
  endSubject,
  getSubjectId,
  updateSubject,
} from '#kernel';
import { onResource } from '#access/rules';
import {
  DELETE_OLDERS,
  DONT_DELETES,
  type DataRetentionPolicyEvent,
  type RetentionTarget,
} from './data-retention-policy.js';

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

const toPolicyData = (id: string, days: number | null) => ({
  dataRetentionPolicy: { type: days === null ? DONT_DELETES : DELETE_OLDERS, id, days },
});

const onPolicy = (target: IdSource) => onResource('data-retention-policies', { in: 'policy', target });

export const retentionEvents = defineEvents(
  {
    topic: 'data-retention-policies',
    stream: 'drp',
    audited: 'data_retention_policy',
    live: onPolicy({ first: 'target' }),
  },
  {
    DataRetentionPolicySet: {
      schema: z.strictObject({ target, ...RETENTION_FIELDS }),
      audit: {
        action: 'create',
        meta: (data, event) => ({
          ...describePolicy(data, event),
          ...(data.target.type === 'workspaces' ? { workspace_id: data.target.id } : {}),
        }),
      },
      live: onPolicy({ field: 'target' })('created'),
      history: ({ target: { id }, deleteOlderThanDays }, { stream }) => [
        ...createSubject(stream, { owner: id }),
        ...updateSubject(id, toPolicyData(stream, deleteOlderThanDays)),
      ],
      ids: { refersTo: { 'target.id': ['ws', 'org'] } },
    },
    DataRetentionPolicyChanged: {
      schema: z.strictObject(RETENTION_FIELDS),
      audit: { action: 'update', meta: describePolicy },
      live: 'changed',
      history: ({ deleteOlderThanDays }, { stream }, lookup) => {
        const owner = getSubjectId(lookup, stream, 'owner');
        return owner === undefined ? [] : updateSubject(owner, toPolicyData(stream, deleteOlderThanDays));
      },
    },
    DataRetentionPolicyRemoved: {
      schema: z.strictObject(RETENTION_FIELDS),
      audit: { action: 'destroy', meta: describePolicy },
      live: 'deleted',
      history: (_, { stream }, lookup) => {
        const owner = getSubjectId(lookup, stream, 'owner');
        return owner === undefined
          ? []
          : [...endSubject(stream), ...updateSubject(owner, { dataRetentionPolicy: null })];
      },
    },
  },
) satisfies EventKinds<DataRetentionPolicyEvent>;
