import { createHash, timingSafeEqual } from 'node:crypto';
import { hashSecret, requireCurrentAccess, type Actor } from '#api/access';
import { sql, type Sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import type { AuthorizationRequest } from './authorization-request.js';

const CODE_LIFETIME_MS = 60_000;
/** Used codes are kept so long to recognize a second use. */
const KEPT_MS = 24 * 60 * 60_000;
const MAX_REMOVED = 100;

const removeOldCodes = (now: Date): Sql => sql`
  delete from oauth.authorization_codes where hash in (
    select hash from oauth.authorization_codes where created_at < ${new Date(now.getTime() - KEPT_MS)}
     order by created_at limit ${MAX_REMOVED})`;

/** Stores the hash of a code that the person has approved in their session, if that has not ended. */
export const storeAuthorizationCode = async (
  database: Database,
  actor: Actor,
  { clientId, redirectUri, codeChallenge }: Omit<AuthorizationRequest, 'state'>,
  { code, now }: { readonly code: string; readonly now: Date },
): Promise<void> => {
  await database.rows(sql`
    insert into oauth.authorization_codes
      (hash, client_id, redirect_uri, code_challenge, user_id, session, created_at, expired_at)
    select ${hashSecret(code)}, ${clientId}, ${redirectUri}, ${codeChallenge}, ${actor.id}, ${actor.token}, ${now}::timestamptz,
           ${new Date(now.getTime() + CODE_LIFETIME_MS)}::timestamptz
     where ${requireCurrentAccess(actor)}`);
  await database.rows(removeOldCodes(now));
};

/** What a code was issued for. */
export type AuthorizationCode = {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly codeChallenge: string;
  readonly user: string;
  readonly session: string;
  readonly isExpired: boolean;
};

/** Uses the code up, whether or not it is expired. Only one caller gets it. */
export const useAuthorizationCode = (
  database: Database,
  code: string,
  now: Date,
): Promise<AuthorizationCode | undefined> =>
  database.row<AuthorizationCode>(sql`
    update oauth.authorization_codes set used_at = ${now} where hash = ${hashSecret(code)} and used_at is null
    returning client_id as "clientId", redirect_uri as "redirectUri", code_challenge as "codeChallenge",
              user_id as "user", session, expired_at <= ${now} as "isExpired"`);

/**
 * Records that a used code was sent again. Returns the id of its token; null if it has none yet, which `linkToken` then
 * refuses. Returns undefined for a code that does not exist.
 */
export const recordReplay = async (database: Database, code: string, now: Date): Promise<string | null | undefined> => {
  const row = await database.row<{ token: string | null }>(sql`
    update oauth.authorization_codes set replayed_at = coalesce(replayed_at, ${now}) where hash = ${hashSecret(code)}
    returning token`);
  return row?.token;
};

/** Stores which token the code led to. Returns false if the code was sent again meanwhile: the token must then end. */
export const linkToken = async (database: Database, code: string, token: string): Promise<boolean> => {
  const linked = await database.row(sql`
    update oauth.authorization_codes set token = ${token} where hash = ${hashSecret(code)} and replayed_at is null
    returning 1 as linked`);
  return linked !== undefined;
};

/** Returns whether the challenge is the SHA-256 of the verifier in base64url (RFC 7636 §4.6), in constant time. */
export const matchesChallenge = (verifier: string, challenge: string): boolean => {
  const computed = createHash('sha256').update(verifier).digest('base64url');
  return computed.length === challenge.length && timingSafeEqual(Buffer.from(computed), Buffer.from(challenge));
};
