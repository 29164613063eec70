import { sql, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { buildSecretDeletion, selectEncryptedSecret } from '#storage/vault';
import { buildRenewalsEnd, toRenewalId } from './oauth-clients.view.js';

export type TokenForUse = {
  readonly client: string;
  readonly organization: string;
  readonly serviceProvider: string;
  readonly httpUrl: string;
  readonly key: string | null;
  readonly isRefused: boolean;
  /** Null if there is no text of the token. */
  readonly encrypted: string | null;
  /** Null if the token does not expire, or nothing renews it. */
  readonly expiresAt: Timestamp | null;
  /** SHA-256 of the text that the host has granted; null if nothing renews it. */
  readonly textSha256: string | null;
};

/** A token that its host renews. */
type ExpiringToken = {
  readonly token: string;
  readonly organization: string;
  readonly expiresAt: Timestamp;
  readonly textSha256: string;
};

type LeasedGrant = Pick<ExpiringToken, 'token' | 'expiresAt'> & { readonly lease: string };

export const findTokenForUse = (database: Database, token: string): Promise<TokenForUse | undefined> =>
  database.row<TokenForUse>(sql`
    select c.id as client, c.organization, c.service_provider as "serviceProvider", c.http_url as "httpUrl", c.key,
           c.token_refused_at is not null as "isRefused", ${selectEncryptedSecret(sql.raw('c.token'))} as encrypted,
           g.expires_at as "expiresAt", g.text_sha256 as "textSha256"
      from oauth_clients c left join connections.token_renewals g on g.token = c.token
     where c.token = ${token}`);

export const storeGrant = ({ token, organization, expiresAt, textSha256 }: ExpiringToken): Sql => sql`
  insert into connections.token_renewals (token, organization, expires_at, text_sha256)
  values (${token}, ${organization}, ${expiresAt}, ${textSha256})
  on conflict (token) do update
    set expires_at = excluded.expires_at, text_sha256 = excluded.text_sha256, lease = null, leased_until = null`;

/** Returns the statements that end the renewal of a token. */
export const buildGrantEnd = (token: string): readonly Sql[] => [
  sql`delete from connections.token_renewals where token = ${token}`,
  buildSecretDeletion(sql`${toRenewalId(token)}`),
];

/** Ends the renewal of a token if the host has granted it with this text. */
export const endGrantOf = async (database: Database, token: string, textSha256: string): Promise<void> => {
  await database.rows(buildRenewalsEnd(sql`token = ${token} and text_sha256 = ${textSha256}`));
};

/** Lets one process renew a token. Returns false if another process does, or has done so. */
export const leaseGrant = async (
  database: Database,
  { token, expiresAt, lease }: LeasedGrant,
  now: Timestamp,
  until: Timestamp,
): Promise<boolean> => {
  const leased = await database.row(sql`
    update connections.token_renewals set lease = ${lease}, leased_until = ${until}
     where token = ${token} and expires_at = ${expiresAt} and (leased_until is null or leased_until <= ${now})
    returning 1`);
  return leased !== undefined;
};

/** Returns the statement that waits until nobody else changes the grant. */
export const lockGrant = (token: string): Sql =>
  sql`select 1 from connections.token_renewals where token = ${token} for update`;

export const holdsLease = ({ token, lease }: LeasedGrant): Sql =>
  sql`exists (select 1 from connections.token_renewals g where g.token = ${token} and g.lease = ${lease})`;

/** Returns the statement that ends a lease with another time at which the token expires. */
export const storeRenewedGrant = ({
  token,
  expiresAt,
  textSha256,
  lease,
}: LeasedGrant & Pick<ExpiringToken, 'textSha256'>): Sql => sql`
  update connections.token_renewals
     set expires_at = ${expiresAt}, text_sha256 = ${textSha256}, lease = null, leased_until = null
   where token = ${token} and lease = ${lease}`;

/** Ends a lease without a renewal. The next process waits until the lease would have ended, or until the token expires. */
export const endLease = async (database: Database, { token, lease }: LeasedGrant): Promise<void> => {
  await database.rows(sql`
    update connections.token_renewals set lease = null, leased_until = least(leased_until, expires_at)
     where token = ${token} and lease = ${lease}`);
};

export const hasLease = async (database: Database, leased: LeasedGrant): Promise<boolean> =>
  (await database.row(sql`select 1 where ${holdsLease(leased)}`)) !== undefined;
