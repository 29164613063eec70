import { CommandHandler } from '@nestjs/cqrs';
import { Ids, Quotas } from '#platform/kernel';
import { AggregateHandler, EventStore, getFirstRow, type OperationTable } from '#storage/event-store';
import { createEventContext } from '#api/access';
import { inviteMember } from './invite-member.operation.js';
import { membership } from './membership.js';
import { ChangeMembership, type MembershipOperations } from './organization-memberships.commands.js';
import {
  selectMembershipById,
  loadMembershipForCommand,
  type MembershipRow,
} from './organization-memberships.queries.js';
import { removeMembership } from './remove-membership.operation.js';

@CommandHandler(ChangeMembership)
export class OrganizationMembershipsHandler extends AggregateHandler<MembershipOperations> {
  protected readonly operations: OperationTable<MembershipOperations> = {
    InviteMember: (input) => inviteMember({ store: this.store, ids: this.ids, quotas: this.quotas }, input),
    AcceptMembership: (input) => this.accept(input),
    RemoveMembership: (input) => removeMembership(this.store, input),
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly quotas: Quotas,
  ) {
    super();
  }

  private async accept({ id, actor }: MembershipOperations['AcceptMembership']['input']): Promise<MembershipRow> {
    const { rows } = await this.store.handle({
      decider: membership,
      load: async () => {
        const row = await loadMembershipForCommand(this.store.database, actor, () => 'accept-membership', id);
        return { ...(await this.store.restore(id, membership, row.snapshot)), row };
      },
      command: ({ row }) => ({ type: 'AcceptMembership', data: { username: row.username } }) as const,
      organization: ({ row }) => row.organization,
      context: createEventContext(actor),
      read: () => [selectMembershipById(id, actor)],
    });
    return getFirstRow<MembershipRow>(rows);
  }
}
