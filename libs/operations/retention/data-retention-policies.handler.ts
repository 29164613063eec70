import { CommandHandler } from '@nestjs/cqrs';
import { Ids } from '#platform/kernel';
import { type Actor, createEventContext, changeResource } from '#api/access';
import {
  AggregateCommand,
  type Operation,
  AggregateHandler,
  EventStore,
  decideWrite,
  expectVersion,
  getFirstRow,
  type OperationTable,
} from '#storage/event-store';
import { dataRetentionPolicy } from '#organizations/data-retention-policies';
import {
  type PolicyOwner,
  type PolicyRow,
  selectPolicyById,
  loadPolicyForCommand,
} from './data-retention-policies.queries.js';

type DataRetentionPolicyOperations = {
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

@CommandHandler(ChangeDataRetentionPolicy)
export class DataRetentionPoliciesHandler extends AggregateHandler<DataRetentionPolicyOperations> {
  protected readonly operations: OperationTable<DataRetentionPolicyOperations> = {
    SetDataRetentionPolicy: (input) =>
      // If two requests create the policy at once, the second starts again and changes the policy of the first.
      this.store.retryOnConflict(() => this.set(input), { races: 'data_retention_policies_owner_key' }),
    RemoveDataRetentionPolicy: (input) => this.store.retryOnConflict(() => this.remove(input)),
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {
    super();
  }

  private async set(input: DataRetentionPolicyOperations['SetDataRetentionPolicy']['input']): Promise<PolicyRow> {
    const { owner, deleteOlderThanDays, actor } = input;
    const rows = await changeResource(this.store, dataRetentionPolicy, {
      actor,
      load: async () => {
        const row = await loadPolicyForCommand(this.store.database, actor, owner);
        return { ...row, id: row.policy ?? this.ids.next('drp') };
      },
      command: ({ target, organizationName }) => ({
        type: 'SetDataRetentionPolicy',
        data: { target, organizationName, deleteOlderThanDays },
      }),
      read: ({ id }) => [selectPolicyById(id)],
    });
    return getFirstRow<PolicyRow>(rows);
  }

  private async remove(input: DataRetentionPolicyOperations['RemoveDataRetentionPolicy']['input']): Promise<void> {
    const { owner, actor } = input;
    const row = await loadPolicyForCommand(this.store.database, actor, owner);
    if (row.policy === null) return;
    const loaded = await this.store.restore(row.policy, dataRetentionPolicy, row.snapshot);
    const { organizationName, organization } = row;
    const command = { type: 'RemoveDataRetentionPolicy', data: { organizationName } } as const;
    const write = decideWrite(dataRetentionPolicy, loaded, organization, command);
    const preconditions = row.preconditions.map(({ stream, version }) => expectVersion(stream, version));
    await this.store.append([...preconditions, write], createEventContext(actor));
  }
}
