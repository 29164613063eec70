import type { Actor } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';
import type { MembershipRow } from './organization-memberships.queries.js';

export type MembershipOperations = {
  /** `teams`: ids of the teams that the invited person will belong to. */
  InviteMember: Operation<
    { organization: string; email: string; teams: readonly string[]; actor: Actor },
    MembershipRow
  >;
  AcceptMembership: Operation<{ id: string; actor: Actor }, MembershipRow>;
  RemoveMembership: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeMembership<T extends keyof MembershipOperations> extends AggregateCommand<MembershipOperations, T> {}
