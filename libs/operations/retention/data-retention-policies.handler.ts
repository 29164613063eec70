import { CommandHandler } from '@nestjs/cqrs';
import { Ids } from '#platform/kernel';
import {
  AggregateHandler,
  EventStore,
  decideWrite,
  expectVersion,
  getFirstRow,
  newStream,
  type LoadedStream,
  type OperationTable,
  type StreamWrite,
} from '#storage/event-store';
import { createEventContext } from '#api/access';
import { dataRetentionPolicy, type DataRetentionPolicyState } from '#organizations/data-retention-policies';
import { ChangeDataRetentionPolicy, type DataRetentionPolicyOperations } from './data-retention-policies.commands.js';
import {
  selectPolicyById,
  loadPolicyForCommand,
  type PolicyForCommand,
  type PolicyRow,
} from './data-retention-policies.queries.js';

type LoadedPolicy = LoadedStream<DataRetentionPolicyState> & { readonly row: PolicyForCommand };

/** Locks the organization before the workspace, as all appends do. In another order, two appends could deadlock. */
const buildPreconditions = ({ preconditions }: PolicyForCommand): StreamWrite[] =>
  preconditions
    .toSorted((a, b) => (a.stream < b.stream ? -1 : 1))
    .map(({ stream, version }) => expectVersion(stream, version));

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
    const { rows } = await this.store.handle({
      decider: dataRetentionPolicy,
      load: async (): Promise<LoadedPolicy> => {
        const row = await loadPolicyForCommand(this.store.database, actor, owner);
        if (row.policy === null) return { ...newStream(this.ids.next('drp'), dataRetentionPolicy), row };
        return { ...(await this.store.restore(row.policy, dataRetentionPolicy, row.snapshot ?? undefined)), row };
      },
      command: ({ row: { target, organizationName } }) =>
        ({ type: 'SetDataRetentionPolicy', data: { target, organizationName, deleteOlderThanDays } }) as const,
      organization: ({ row }) => row.organization,
      preconditions: ({ row }) => buildPreconditions(row),
      context: createEventContext(actor),
      read: ({ stream }) => [selectPolicyById(stream)],
    });
    return getFirstRow<PolicyRow>(rows);
  }

  private async remove(input: DataRetentionPolicyOperations['RemoveDataRetentionPolicy']['input']): Promise<void> {
    const { owner, actor } = input;
    const row = await loadPolicyForCommand(this.store.database, actor, owner);
    if (row.policy === null) return;
    const loaded = await this.store.restore(row.policy, dataRetentionPolicy, row.snapshot ?? undefined);
    const { organizationName, organization } = row;
    const command = { type: 'RemoveDataRetentionPolicy', data: { organizationName } } as const;
    const write = decideWrite(dataRetentionPolicy, loaded, organization, command);
    await this.store.append([...buildPreconditions(row), write], createEventContext(actor));
  }
}
