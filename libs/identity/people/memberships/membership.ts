import { conflict, notFound, type Decider, type Message } from '#platform/kernel';

/**
 * The states of a user's membership in an organization.
 *
 *   absent ──invited──► invited ──accept──► active ──remove──► removed
 *      └──────────founded, created by an operator──►┘   (an invitation can be removed, too)
 *
 * Permissions of teams apply only while the membership is active.
 */
export const MEMBERSHIP_STATUSES = ['invited', 'active'] as const;
export type MembershipStatus = (typeof MEMBERSHIP_STATUSES)[number];

/**
 * An invitation that is not accepted yet. Audit entries show the typed address and hide the account, so that the
 * inviter learns nothing about it. The address is null only after the person was forgotten.
 */
export type Invitation = { readonly membership: string; readonly email: string | null };

/**
 * Returns the id that replaces the account's id until the person accepts. It is derived from the membership's id and
 * belongs to no account.
 */
export const deriveHiddenAccountId = (membership: string): string => membership.replace(/^ou-/, 'user-');

type NewMembership = {
  user: string;
  username: string;
  /** The address of the invitation; null without an invitation. */
  email: string | null;
  status: MembershipStatus;
};

/** `invitation` is null for active members, and in events of schema version 1, whose audit entries show the account. */
type WithInvitation = { readonly invitation: Invitation | null };

export type MembershipEvent =
  | Message<'MembershipCreated', NewMembership & WithInvitation>
  | Message<'MembershipAccepted', { user: string; username: string }>
  | Message<'MembershipRemoved', { user: string; username: string } & WithInvitation>;

export type MembershipCommand =
  /** `id`: the membership's own id. */
  | Message<'CreateMembership', NewMembership & { id: string }>
  | Message<'AcceptMembership', { username: string }>
  /** `email`: the address of the invitation. */
  | Message<'RemoveMembership', { id: string; username: string; email: string | null }>;

type ExistingMembership = { readonly status: MembershipStatus; readonly user: string };
type MembershipState = { readonly status: 'absent' | 'removed' } | ExistingMembership;

/** Returns null unless the status is `invited`. */
export const createInvitation = (
  { id, email }: { readonly id: string; readonly email: string | null },
  status: MembershipStatus,
): Invitation | null => (status === 'invited' ? { membership: id, email } : null);

const requireExisting = (state: MembershipState): ExistingMembership => {
  if (!('user' in state)) throw notFound();
  return state;
};

export const membership: Decider<MembershipState, MembershipCommand, MembershipEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    CreateMembership: ({ id, user, username, email, status }, state) => {
      if (state.status !== 'absent') throw conflict('Membership exists already');
      return [
        {
          type: 'MembershipCreated',
          data: { user, username, email, status, invitation: createInvitation({ id, email }, status) },
        },
      ];
    },
    AcceptMembership: ({ username }, state) => {
      const { status, user } = requireExisting(state);
      return status === 'active' ? [] : [{ type: 'MembershipAccepted', data: { user, username } }];
    },
    RemoveMembership: ({ id, username, email }, state) => {
      const { status, user } = requireExisting(state);
      return [
        { type: 'MembershipRemoved', data: { user, username, invitation: createInvitation({ id, email }, status) } },
      ];
    },
  },
  evolve: {
    MembershipCreated: ({ user, status }) => ({ status, user }),
    MembershipAccepted: ({ user }) => ({ status: 'active', user }),
    MembershipRemoved: () => ({ status: 'removed' }),
  },
};
