import { sql, type Projection } from '#platform/kernel';
import type { UserForgotten } from '#identity/people';
import type { SignInMethodsEvent } from '../methods/sign-in-methods.js';

type IdentityEvent =
  Extract<SignInMethodsEvent, { type: 'IdentityLinked' | 'IdentityUnlinked' | 'SignInMethodsReset' }> | UserForgotten;

/** The accounts of people at identity providers. */
export const userIdentities: Projection<IdentityEvent> = {
  name: 'user_identities',
  version: 1,
  tables: ['user_identities'],
  on: {
    IdentityLinked: ({ identity, user, provider, issuer, subject }, { time }) => sql`
      insert into user_identities (id, user_id, provider, issuer, subject, created_at)
      values (${identity}, ${user}, ${provider}, ${issuer}, ${subject}, ${time})`,
    IdentityUnlinked: ({ identity }) => sql`delete from user_identities where id = ${identity}`,
    SignInMethodsReset: ({ user }) => sql`delete from user_identities where user_id = ${user}`,
    UserForgotten: (_, { stream }) => sql`delete from user_identities where user_id = ${stream}`,
  },
};
