import { conflict, notFound, type Decider, type Message } from '#kernel';

/**
 * Somebody's membership in an organization.
 *
 *   absent ──invited──► invited ──accept──► active ──remove──► removed
 *      └──────────founded, made by an operator──►┘   (invitations can be taken back, too)
 *
 * What teams give counts from the moment it is active.
 */
export const MEMBERSHIP_STATUSES = ['invited', 'active'] as const;
export type MembershipStatus = (typeof MEMBERSHIP_STATUSES)[number];

type Birth = {
  user: string;
  username: string;
  /** The address that they were invited by; null where they were not. */
  email: string | null;
  status: MembershipStatus;
};

export type MembershipEvent =
  | Message<'MembershipCreated', Birth>
  | Message<'MembershipAccepted', { user: string; username: string }>
  | Message<'MembershipRemoved', { user: string; username: string }>;

export type MembershipCommand =
  | Message<'CreateMembership', Birth>
  | Message<'AcceptMembership', { username: string }>
  | Message<'RemoveMembership', { username: string }>;

type Present = { readonly status: MembershipStatus; readonly user: string };
type Membership = { readonly status: 'absent' | 'removed' } | Present;

const present = (state: Membership): Present => {
  if (!('user' in state)) throw notFound();
  return state;
};

export const membership: Decider<Membership, MembershipCommand, MembershipEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    CreateMembership: ({ user, username, email, status }, state) => {
      if (state.status !== 'absent') throw conflict('Membership exists already');
      return [{ type: 'MembershipCreated', data: { user, username, email, status } }];
    },
    AcceptMembership: ({ username }, state) => {
      const { status, user } = present(state);
      return status === 'active' ? [] : [{ type: 'MembershipAccepted', data: { user, username } }];
    },
    RemoveMembership: ({ username }, state) => [
      { type: 'MembershipRemoved', data: { user: present(state).user, username } },
    ],
  },
  evolve: {
    MembershipCreated: ({ user, status }) => ({ status, user }),
    MembershipAccepted: ({ user }) => ({ status: 'active', user }),
    MembershipRemoved: () => ({ status: 'removed' }),
  },
};
