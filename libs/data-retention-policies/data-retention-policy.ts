import { notFound, requireActive, unprocessable, type Decider, type Message } from '#kernel';

/** JSON:API types of the two kinds of policy. */
export const DELETE_OLDERS = 'data-retention-policy-delete-olders';
export const DONT_DELETES = 'data-retention-policy-dont-deletes';

/**
 * A policy for how long data of old state versions is kept: in one workspace, or in all workspaces of an organization
 * that have no policy of their own. `null` days keep the data for ever, so that a workspace can be exempt from the
 * policy of its organization.
 *
 *   absent ──set──► active (set again: changed) ──remove──► removed
 *
 * The jobs in retention.job.ts delete the data.
 */
export type DataRetentionPolicyEvent =
  | Message<'DataRetentionPolicySet', RetentionData & { target: RetentionTarget }>
  | Message<'DataRetentionPolicyChanged', RetentionData>
  /** `deleteOlderThanDays` is the last value. */
  | Message<'DataRetentionPolicyRemoved', RetentionData>;

export type DataRetentionPolicyCommand =
  | Message<'SetDataRetentionPolicy', RetentionData & { target: RetentionTarget }>
  | Message<'RemoveDataRetentionPolicy', Omit<RetentionData, 'deleteOlderThanDays'>>;

/** The audit trail contains the organization's name. */
type RetentionData = { organizationName: string; deleteOlderThanDays: number | null };

export type RetentionTarget = { readonly type: 'workspaces' | 'organizations'; readonly id: string };

export type DataRetentionPolicyState =
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
