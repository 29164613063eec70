import { sql, type Projection } from '#kernel';
import type { UserForgotten } from '#people';
import type { SignInMethodsEvent } from '#sign-in';

type StatedGroupsEvent =
  Extract<SignInMethodsEvent, { type: 'IdentityUnlinked' | 'SignInMethodsReset' }> | UserForgotten;

/**
 * A projection without tables: it ends statements, which are no view, and a rebuild does not run it again. A scheduled job
 * then removes people from the teams (provider-access.job.ts).
 */
export const statedGroups: Projection<StatedGroupsEvent> = {
  name: 'stated_groups',
  tables: [],
  on: {
    IdentityUnlinked: ({ user, provider }) => sql`
      update identity_providers.stated_groups set ended = true where user_id = ${user} and provider = ${provider}`,
    SignInMethodsReset: ({ user }) => sql`
      update identity_providers.stated_groups set ended = true where user_id = ${user}`,
    UserForgotten: (_, { stream }) => sql`delete from identity_providers.stated_groups where user_id = ${stream}`,
  },
};
