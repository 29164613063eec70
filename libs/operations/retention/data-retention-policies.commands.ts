import type { Actor } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';
import type { PolicyOwner, PolicyRow } from './data-retention-policies.queries.js';

export type DataRetentionPolicyOperations = {
  /** Creates the policy, or changes the existing one. If `deleteOlderThanDays` is null, no data is deleted. */
  SetDataRetentionPolicy: Operation<
    { owner: PolicyOwner; deleteOlderThanDays: number | null; actor: Actor },
    PolicyRow
  >;
  /** Does nothing if there is no policy. */
  RemoveDataRetentionPolicy: Operation<{ owner: PolicyOwner; actor: Actor }, void>;
};

export class ChangeDataRetentionPolicy<T extends keyof DataRetentionPolicyOperations> extends AggregateCommand<
  DataRetentionPolicyOperations,
  T
> {}
