import { z } from 'zod';
import {
  createSubject,
  defineEvents,
  endSubject,
  getSubjectId,
  notFound,
  requireActive,
  unprocessable,
  updateSubject,
  type Decider,
  type EventsOf,
  type IdSource,
  type Message,
  type RecordedEvent,
} from '#platform/kernel';
import { onResource } from '#api/access/rules';

/** JSON:API types of the two kinds of policy. */
export const DELETE_OLDERS = 'data-retention-policy-delete-olders';
export const DONT_DELETES = 'data-retention-policy-dont-deletes';

const RETENTION_FIELDS = { organizationName: z.string(), deleteOlderThanDays: z.int().nullable() };

const target = z.strictObject({
  type: z.enum(['workspaces', 'organizations']),
  id: z.string(),
}) satisfies z.ZodType<RetentionTarget>;

type RetentionMeta = { readonly organizationName: string; readonly deleteOlderThanDays: number | null };

/** Readers of the audit trail expect these fields. Days are greater than 0 there, so an unlimited policy has none. */
const describePolicy = ({ organizationName, deleteOlderThanDays }: RetentionMeta, { organization }: RecordedEvent) => ({
  ...(deleteOlderThanDays === null ? {} : { delete_older_than_n_days: deleteOlderThanDays }),
  organization: organizationName,
  organization_id: organization,
});

const toPolicyData = (id: string, days: number | null) => ({
  dataRetentionPolicy: { type: days === null ? DONT_DELETES : DELETE_OLDERS, id, days },
});

const onPolicy = (target: IdSource) => onResource('data-retention-policies', { in: 'policy', target });

/**
 * A policy for how long data of old state versions is kept: in one workspace, or in all workspaces of an organization
 * that have no policy of their own. `null` days keep the data for ever, so that a workspace can be exempt from the
 * policy of its organization.
 *
 *   absent ──set──► active (set again: changed) ──remove──► removed
 *
 * The jobs in retention.job.ts delete the data.
 */
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
);

export type DataRetentionPolicyEvent = EventsOf<typeof retentionEvents>;

type DataRetentionPolicyCommand =
  | Message<'SetDataRetentionPolicy', RetentionData & { target: RetentionTarget }>
  | Message<'RemoveDataRetentionPolicy', Omit<RetentionData, 'deleteOlderThanDays'>>;

/** The audit trail contains the organization's name. */
type RetentionData = { organizationName: string; deleteOlderThanDays: number | null };

export type RetentionTarget = { readonly type: 'workspaces' | 'organizations'; readonly id: string };

type DataRetentionPolicyState =
  | { readonly status: 'absent' | 'removed' }
  | { readonly status: 'active'; readonly deleteOlderThanDays: number | null };

/** A hundred years. To keep data longer, use the policy that deletes nothing. */
const MAX_POLICY_DAYS = 36_500;

const DAYS = 'delete-older-than-n-days';

const checkDays = (days: number | null): void => {
  if (days === null) return;
  if (!Number.isInteger(days)) throw unprocessable('Delete older than n days must be a whole number', DAYS);
  if (days < 1) throw unprocessable('Delete older than n days must be greater than 0', DAYS);
  if (days > MAX_POLICY_DAYS) throw unprocessable(`Delete older than n days must be at most ${MAX_POLICY_DAYS}`, DAYS);
};

export const dataRetentionPolicy: Decider<
  DataRetentionPolicyState,
  DataRetentionPolicyCommand,
  DataRetentionPolicyEvent
> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    SetDataRetentionPolicy: ({ target, organizationName, deleteOlderThanDays }, state) => {
      checkDays(deleteOlderThanDays);
      if (state.status === 'active') {
        if (state.deleteOlderThanDays === deleteOlderThanDays) return [];
        return [{ type: 'DataRetentionPolicyChanged', data: { organizationName, deleteOlderThanDays } }];
      }
      if (state.status === 'removed') throw notFound();
      return [{ type: 'DataRetentionPolicySet', data: { target, organizationName, deleteOlderThanDays } }];
    },
    RemoveDataRetentionPolicy: ({ organizationName }, state) => {
      const { deleteOlderThanDays } = requireActive(state);
      return [{ type: 'DataRetentionPolicyRemoved', data: { organizationName, deleteOlderThanDays } }];
    },
  },
  evolve: {
    DataRetentionPolicySet: ({ deleteOlderThanDays }) => ({ status: 'active', deleteOlderThanDays }),
    DataRetentionPolicyChanged: ({ deleteOlderThanDays }) => ({ status: 'active', deleteOlderThanDays }),
    DataRetentionPolicyRemoved: () => ({ status: 'removed' }),
  },
};
