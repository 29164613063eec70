import { conflict, notFound, pickChanged, hasNoChanges, type Decider, type Message } from '#kernel';

/** The names of an account at the identity provider. */
export type ScimUserNames = { readonly userName: string; readonly externalId: string | null };

type ProvisionedAccount = ScimUserNames & { readonly user: string };

export type ScimUserEvent =
  | Message<'ScimUserProvisioned', ProvisionedAccount>
  | Message<'ScimUserUpdated', { user: string; changes: Partial<ScimUserNames> }>
  | Message<'ScimUserDeprovisioned', { user: string }>;

export type ScimUserCommand =
  | Message<'ProvisionScimUser', ProvisionedAccount>
  | Message<'UpdateScimUser', { names: ScimUserNames }>
  | Message<'DeprovisionScimUser', Record<never, never>>;

type ScimUserState =
  { readonly status: 'absent' } | ({ readonly status: 'active' | 'deprovisioned' } & ProvisionedAccount);

/** Returns the stream of the account's names at the identity provider. */
export const getScimUserStream = (user: string): string => user.replace(/^user-/, 'scu-');

const requireProvisioned = (state: ScimUserState): ProvisionedAccount => {
  if (state.status !== 'active') throw notFound();
  return state;
};

export const scimUser: Decider<ScimUserState, ScimUserCommand, ScimUserEvent> = {
  version: 1,
  initial: { status: 'absent' },
  // The user name of a forgotten person is read as the id.
  people: (state) => (state.status === 'absent' || state.userName === state.user ? [] : [state.user]),
  decide: {
    ProvisionScimUser: ({ user, userName, externalId }, { status }) => {
      if (status === 'active') throw conflict('User exists already');
      return [{ type: 'ScimUserProvisioned', data: { user, userName, externalId } }];
    },
    UpdateScimUser: ({ names }, state) => {
      const { user, ...present } = requireProvisioned(state);
      const changes = pickChanged({ userName: present.userName, externalId: present.externalId }, names);
      return hasNoChanges(changes) ? [] : [{ type: 'ScimUserUpdated', data: { user, changes } }];
    },
    DeprovisionScimUser: (_, state) => [
      { type: 'ScimUserDeprovisioned', data: { user: requireProvisioned(state).user } },
    ],
  },
  evolve: {
    ScimUserProvisioned: ({ user, userName, externalId }) => ({ status: 'active', user, userName, externalId }),
    ScimUserUpdated: ({ changes }, state) => (state.status === 'absent' ? state : { ...state, ...changes }),
    ScimUserDeprovisioned: (_, state) => (state.status === 'absent' ? state : { ...state, status: 'deprovisioned' }),
  },
};
