import { sql, type Projection } from '#platform/kernel';
import type { UserForgotten } from '#identity/people';
import type { SignInMethodsEvent } from '#identity/sign-in';

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
    // The event names the provider of the time of the link: another one can have its issuer now. The next sign-in with a
    // provider states its groups again.
    IdentityUnlinked: ({ user }) => sql`
      update identity_providers.stated_groups set ended = true where user_id = ${user}`,
    SignInMethodsReset: ({ user }) => sql`
      update identity_providers.stated_groups set ended = true where user_id = ${user}`,
    UserForgotten: (_, { stream }) => sql`delete from identity_providers.stated_groups where user_id = ${stream}`,
  },
};
