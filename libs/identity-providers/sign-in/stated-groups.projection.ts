import { sql, type Projection } from '#kernel';
import type { UserForgotten } from '#people';
import type { SignInMethodsEvent } from '#sign-in';
import type { IdentityProviderEvent } from '../providers/identity-provider.js';

type StatedGroupsEvent =
  | Extract<SignInMethodsEvent, { type: 'IdentityUnlinked' | 'SignInMethodsReset' }>
  | Extract<IdentityProviderEvent, { type: 'IdentityProviderDeleted' }>
  | UserForgotten;

/** A projection without tables: it deletes statements, which are no view, and a rebuild does not run it again. */
export const statedGroups: Projection<StatedGroupsEvent> = {
  name: 'stated_groups',
  tables: [],
  on: {
    IdentityUnlinked: ({ user, provider }) => sql`
      delete from identity_providers.stated_groups where user_id = ${user} and provider = ${provider}`,
    SignInMethodsReset: ({ user }) => sql`delete from identity_providers.stated_groups where user_id = ${user}`,
    IdentityProviderDeleted: (_, { stream }) => sql`
      delete from identity_providers.stated_groups where provider = ${stream}`,
    UserForgotten: (_, { stream }) => sql`delete from identity_providers.stated_groups where user_id = ${stream}`,
  },
};
