import { sql, notFound, type Clock, type Ids, type Timestamp } from '#platform/kernel';
import { decideWrite, type EventStore } from '#storage/event-store';
import { createSystemContext, hashSecret } from '#api/access';
import { findInvitedAccountById, loadPersonWithSessions, prepareTakeover } from '#identity/people';
import type { Database } from '#platform/postgres';
import { signInMethods, toMethodsStream } from '../methods/sign-in-methods.js';

const LIFETIME_MS = 15 * 60_000;

export type SignInLink = { readonly url: string; readonly expiredAt: Timestamp };

export type SignInLinkRequest = {
  /** Id of the user. */
  readonly user: string;
  /** Whether using the link removes the password, one-time codes and passkeys of the person. */
  readonly resetsMethods: boolean;
  /** Whether using the link also revokes the tokens that the person has then. Default: false. */
  readonly revokesTokens?: boolean;
  readonly publicUrl: string;
};

/** Creates a link by which a person can sign in once within 15 minutes. Earlier links of the person end. */
export const createSignInLink = (
  { store, ids, clock }: { readonly store: EventStore; readonly ids: Ids; readonly clock: Clock },
  { user, resetsMethods, revokesTokens = false, publicUrl }: SignInLinkRequest,
): Promise<SignInLink> =>
  store.retryOnConflict(async () => {
    const person = await loadPersonWithSessions(store.database, sql`${user}`, sql`false`);
    if (!person) throw notFound(`There is no user with the id ${user}`);
    const now = clock.now();
    const expiredAt = new Date(now.getTime() + LIFETIME_MS).toISOString();
    const secret = ids.secret();
    const { username, organizations } = person;
    const data = { user, username, organizations, expiredAt, resetsMethods };
    const loaded = await store.load(toMethodsStream(user), signInMethods);
    const link = decideWrite(signInMethods, loaded, null, { type: 'CreateSignInLink', data });
    // The operator decides who signs in, so no other owner of the address takes the account over.
    const invited = await findInvitedAccountById(store, user);
    const confirmation = invited && (await prepareTakeover({ store, quotas: { users: null } }, invited));
    const context = createSystemContext('command line', ids.uuid());
    await store.append([...(confirmation ? [confirmation.write] : []), link], context, [
      sql`delete from sign_in.links where user_id = ${user} or expired_at <= ${now}`,
      sql`insert into sign_in.links (hash, user_id, resets_methods, revokes_tokens, expired_at)
            values (${hashSecret(secret)}, ${user}, ${resetsMethods}, ${revokesTokens}, ${expiredAt})`,
    ]);
    return { url: `${publicUrl}/sign-in/link?secret=${secret}`, expiredAt };
  });

export type UsableLink = {
  readonly user: string;
  readonly resetsMethods: boolean;
  readonly revokesTokens: boolean;
};

const selectLink = sql.raw('user_id as "user", resets_methods as "resetsMethods", revokes_tokens as "revokesTokens"');

/** Returns the link with this secret without using it up; undefined if it is unknown, used or expired. */
export const findSignInLink = (database: Database, secret: string, now: Date): Promise<UsableLink | undefined> =>
  database.row<UsableLink>(
    sql`select ${selectLink} from sign_in.links where hash = ${hashSecret(secret)} and expired_at > ${now}`,
  );

/** Uses the link up. Only one caller gets it. */
export const useSignInLink = (database: Database, secret: string, now: Date): Promise<UsableLink | undefined> =>
  database.row<UsableLink>(sql`
    delete from sign_in.links where hash = ${hashSecret(secret)} and expired_at > ${now} returning ${selectLink}`);
