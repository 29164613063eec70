import { CommandHandler } from '@nestjs/cqrs';
import { Ids, Quotas } from '#platform/kernel';
import { AggregateHandler, EventStore, getFirstRow, type OperationTable } from '#storage/event-store';
import { changeResource } from '#api/access';
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
    const rows = await changeResource(this.store, membership, {
      actor,
      load: () => loadMembershipForCommand(this.store.database, actor, () => 'accept-membership', id),
      command: ({ username }) => ({ type: 'AcceptMembership', data: { username } }),
      read: () => [selectMembershipById(id, actor)],
    });
    return getFirstRow<MembershipRow>(rows);
  }
}
