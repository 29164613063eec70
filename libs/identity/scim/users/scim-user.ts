import { conflict, notFound, pickChanged, hasNoChanges, type Decider, type Message } from '#platform/kernel';

/** The names of a user at the identity provider. */
export type ScimUserNames = { readonly userName: string; readonly externalId: string | null };

/**
 * What the identity provider has stated about a user. `active` is false only if the provider itself has suspended the
 * user: a suspension by an administrator stays until an administrator ends it.
 */
type ScimUserStatement = ScimUserNames & { readonly active: boolean };

/** `organizations`: ids of the organizations in which the user is an active member. Their audit trails record the event. */
type ProvisionedUser = { readonly user: string; readonly organizations: readonly string[] };

export type ScimUserEvent =
  /** `source`: the id of the identity provider whose token created the user; `site` for a token without one. */
  | Message<'ScimUserProvisioned', ProvisionedUser & ScimUserStatement & { readonly source: string }>
  | Message<'ScimUserUpdated', ProvisionedUser & { readonly changes: Partial<ScimUserStatement> }>
  | Message<'ScimUserDeprovisioned', ProvisionedUser>;

type ScimUserCommand =
  | Message<'ProvisionScimUser', ProvisionedUser & ScimUserStatement & { readonly source: string }>
  | Message<'UpdateScimUser', { readonly organizations: readonly string[]; readonly statement: ScimUserStatement }>
  | Message<'DeprovisionScimUser', { readonly organizations: readonly string[] }>;

/** `id`: the id of the user. Snapshots are erased by this member if the user is forgotten. */
type StatedUser = { readonly id: string } & ScimUserStatement;

export type ScimUserState =
  { readonly status: 'absent' } | ({ readonly status: 'provisioned' | 'deprovisioned' } & StatedUser);

/** Returns the stream of what the identity provider has stated about a user. */
export const getScimUserStream = (user: string): string => user.replace(/^user-/, 'scu-');

const requireProvisioned = (state: ScimUserState): StatedUser => {
  if (state.status !== 'provisioned') throw notFound();
  return state;
};

export const scimUser: Decider<ScimUserState, ScimUserCommand, ScimUserEvent> = {
  version: 1,
  initial: { status: 'absent' },
  // The user name of a forgotten person is read as the id.
  people: (state) => (state.status === 'absent' || state.userName === state.id ? [] : [state.id]),
  decide: {
    ProvisionScimUser: ({ user, userName, externalId, active, source, organizations }, { status }) => {
      if (status === 'provisioned') throw conflict('User exists already');
      return [{ type: 'ScimUserProvisioned', data: { user, userName, externalId, active, source, organizations } }];
    },
    UpdateScimUser: ({ organizations, statement }, state) => {
      const { id: user, userName, externalId, active } = requireProvisioned(state);
      const changes = pickChanged({ userName, externalId, active }, statement);
      return hasNoChanges(changes) ? [] : [{ type: 'ScimUserUpdated', data: { user, changes, organizations } }];
    },
    DeprovisionScimUser: ({ organizations }, state) => [
      { type: 'ScimUserDeprovisioned', data: { user: requireProvisioned(state).id, organizations } },
    ],
  },
  evolve: {
    ScimUserProvisioned: ({ user, userName, externalId, active }) => ({
      status: 'provisioned',
      id: user,
      userName,
      externalId,
      active,
    }),
    ScimUserUpdated: ({ changes }, state) => (state.status === 'absent' ? state : { ...state, ...changes }),
    ScimUserDeprovisioned: (_, state) => (state.status === 'absent' ? state : { ...state, status: 'deprovisioned' }),
  },
};
