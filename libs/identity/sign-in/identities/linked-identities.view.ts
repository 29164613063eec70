import { sql, type Projection, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
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

/** The unique index of the view. A concurrent request can link an identity first. */
export const IDENTITY_RACE = 'user_identities_issuer_subject_key';

/** A person at an identity provider. Only both texts together identify the person. */
export type ProviderSubject = { readonly issuer: string; readonly subject: string };

/** Returns the id of the user with this identity; undefined if no account is linked with it. */
export const findUserByIdentity = async (
  database: Database,
  { issuer, subject }: ProviderSubject,
): Promise<string | undefined> => {
  const row = await database.row<{ user: string }>(
    sql`select user_id as "user" from user_identities where issuer = ${issuer} and subject = ${subject}`,
  );
  return row?.user;
};

export type LinkedIdentityRow = {
  readonly id: string;
  readonly provider: string;
  readonly issuer: string;
  readonly createdAt: Timestamp;
};

/** Returns the identities of a person, oldest first. */
export const listLinkedIdentities = (database: Database, user: string): Promise<LinkedIdentityRow[]> =>
  database.rows<LinkedIdentityRow>(sql`
    select id, provider, issuer, created_at as "createdAt" from user_identities where user_id = ${user}
     order by created_at, id`);
