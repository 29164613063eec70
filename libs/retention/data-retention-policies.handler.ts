import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids } from '#kernel';
import {
  EventStore,
  getFirstRow,
  newStream,
  expectVersion,
  decideWrite,
  type LoadedStream,
  type StreamWrite,
} from '#event-store';
import { createEventContext, type Actor } from '#access';
import { dataRetentionPolicy, type DataRetentionPolicyState } from '#data-retention-policies';
import {
  selectPolicyById,
  loadPolicyForCommand,
  type PolicyForCommand,
  type PolicyOwner,
  type PolicyRow,
} from './data-retention-policies.queries.js';

/** Makes the policy, or changes the one that there is; null days: nothing is deleted. */
export class SetRetention extends Command<PolicyRow> {
  constructor(
    readonly of: PolicyOwner,
    readonly deleteOlderThanDays: number | null,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** Does nothing where there is none: what is wanted is so already. */
export class RemoveRetention extends Command<void> {
  constructor(
    readonly of: PolicyOwner,
    readonly actor: Actor,
  ) {
    super();
  }
}

type LoadedPolicy = LoadedStream<DataRetentionPolicyState> & { readonly found: PolicyForCommand };

/** The organization before the workspace, as everybody does: or two might wait for one another. */
const buildPreconditions = ({ preconditions }: PolicyForCommand): StreamWrite[] =>
  preconditions
    .toSorted((a, b) => (a.stream < b.stream ? -1 : 1))
    .map(({ stream, version }) => expectVersion(stream, version));

@CommandHandler(SetRetention)
export class SetRetentionHandler implements ICommandHandler<SetRetention> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {}

  async execute({ of, deleteOlderThanDays, actor }: SetRetention): Promise<PolicyRow> {
    const id = this.ids.next('drp');
    const load = async (): Promise<LoadedPolicy> => {
      const found = await loadPolicyForCommand(this.store.database, actor, of);
      const { policy, snapshot } = found;
      if (policy === null) return { ...newStream(id, dataRetentionPolicy), found };
      return { ...(await this.store.restore(policy, dataRetentionPolicy, snapshot ?? undefined)), found };
    };
    const work = () =>
      this.store.handle({
        decider: dataRetentionPolicy,
        load,
        command: ({ found: { target, organizationName } }) =>
          ({ type: 'SetDataRetentionPolicy', data: { target, organizationName, deleteOlderThanDays } }) as const,
        organization: ({ found }) => found.organization,
        preconditions: ({ found }) => buildPreconditions(found),
        context: createEventContext(actor),
        read: ({ stream }) => [selectPolicyById(stream)],
      });
    // Two that both found none: the second finds the first's.
    const { rows } = await this.store.untilFirst(work, { races: 'data_retention_policies_owner_key' });
    return getFirstRow<PolicyRow>(rows);
  }
}

@CommandHandler(RemoveRetention)
export class RemoveRetentionHandler implements ICommandHandler<RemoveRetention> {
  constructor(private readonly store: EventStore) {}

  async execute({ of, actor }: RemoveRetention): Promise<void> {
    await this.store.untilFirst(async () => {
      const found = await loadPolicyForCommand(this.store.database, actor, of);
      if (found.policy === null) return;
      const loaded = await this.store.restore(found.policy, dataRetentionPolicy, found.snapshot ?? undefined);
      const { organizationName, organization } = found;
      const command = { type: 'RemoveDataRetentionPolicy', data: { organizationName } } as const;
      const write = decideWrite(dataRetentionPolicy, loaded, organization, command);
      await this.store.append([...buildPreconditions(found), write], createEventContext(actor));
    });
  }
}
