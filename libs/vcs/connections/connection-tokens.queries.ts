import { sql, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { buildSecretDeletion, selectEncryptedSecret } from '#storage/vault';
import { toRenewalId } from './oauth-clients.view.js';

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
};

/** A token that its host renews. */
export type ExpiringToken = { readonly token: string; readonly organization: string; readonly expiresAt: Timestamp };

type LeasedGrant = Omit<ExpiringToken, 'organization'> & { readonly lease: string };

export const findTokenForUse = (database: Database, token: string): Promise<TokenForUse | undefined> =>
  database.row<TokenForUse>(sql`
    select c.id as client, c.organization, c.service_provider as "serviceProvider", c.http_url as "httpUrl", c.key,
           c.token_refused_at is not null as "isRefused", ${selectEncryptedSecret(sql.raw('c.token'))} as encrypted,
           g.expires_at as "expiresAt"
      from oauth_clients c left join connections.token_renewals g on g.token = c.token
     where c.token = ${token}`);

export const storeGrant = ({ token, organization, expiresAt }: ExpiringToken): Sql => sql`
  insert into connections.token_renewals (token, organization, expires_at) values (${token}, ${organization}, ${expiresAt})
  on conflict (token) do update set expires_at = excluded.expires_at, lease = null, leased_until = null`;

/** Returns the statements that end the renewal of a token. */
export const buildGrantEnd = (token: string): readonly Sql[] => [
  sql`delete from connections.token_renewals where token = ${token}`,
  buildSecretDeletion(sql`${toRenewalId(token)}`),
];

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
export const storeRenewedGrant = ({ token, expiresAt, lease }: LeasedGrant): Sql => sql`
  update connections.token_renewals set expires_at = ${expiresAt}, lease = null, leased_until = null
   where token = ${token} and lease = ${lease}`;
