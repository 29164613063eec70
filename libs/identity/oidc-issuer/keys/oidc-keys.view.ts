import { sql, type Projection } from '#platform/kernel';
import { requireCurrentAccess, requirePermission, SITE_SCOPE, type Actor } from '#api/access';
import { buildSnapshotJson, type StreamSnapshot } from '#storage/event-store';
import { buildSecretDeletion, selectEncryptedSecret } from '#storage/vault';
import type { Database } from '#platform/postgres';
import { OIDC_KEYS_STREAM, type OidcKeyEvent, type OidcPublicKey } from './oidc-keys.js';

export const publishedOidcKeys: Projection<OidcKeyEvent> = {
  name: 'oidc_keys',
  version: 1,
  tables: ['oidc_keys'],
  on: {
    OidcKeyRotated: ({ key }, { time, version }) => sql`
      insert into oidc_keys (id, public_key, version, created_at)
      values (${key.kid}, ${sql.json(key)}, ${version}, ${time})`,
    OidcKeysTrimmed: ({ kids }) => sql`delete from oidc_keys where id = any (${kids})`,
  },
};

/** Returns the id of a private key in the vault. */
export const toSecretId = (kid: string): string => `oidckey-${kid}`;

/** Deletes private keys from the vault. `tables` is empty, because the vault is not a view. */
export const oidcKeySecrets: Projection<OidcKeyEvent> = {
  name: 'oidc_key_secrets',
  tables: [],
  on: {
    OidcKeyRotated: null,
    OidcKeysTrimmed: ({ kids }) => buildSecretDeletion(sql`select unnest(${kids.map(toSecretId)}::text[])`),
  },
};

type KeysForCommand = { readonly id: string; readonly organization: null; readonly snapshot: StreamSnapshot | null };

/** Returns the stream of the keys for a command. Throws the refusal of the permission table. */
export const loadKeysForCommand = async (database: Database, actor: Actor): Promise<KeysForCommand> => {
  const row = await database.row<{ readonly snapshot: StreamSnapshot | null }>(sql`
    select case when s.stream is not null then ${buildSnapshotJson('s')} end as snapshot
      from (select 1 where ${requireCurrentAccess(actor)}) allowed
      left join event_store.streams s on s.stream = ${OIDC_KEYS_STREAM}`);
  requirePermission(actor, 'manage-site', SITE_SCOPE);
  return { id: OIDC_KEYS_STREAM, organization: null, snapshot: row?.snapshot ?? null };
};

/** Returns the published keys, newest first. */
export const listPublicKeys = async (database: Database): Promise<readonly OidcPublicKey[]> => {
  const rows = await database.rows<{ readonly key: OidcPublicKey }>(
    sql`select public_key as key from oidc_keys order by version desc`,
  );
  return rows.map(({ key }) => key);
};

type NewestKey = { readonly kid: string; readonly encrypted: string | null };

/** Returns the newest key with its encrypted private key; undefined if the site has none yet. */
export const findSigningKey = (database: Database): Promise<NewestKey | undefined> =>
  database.row<NewestKey>(sql`
    select k.id as kid, ${selectEncryptedSecret(sql.raw(`'oidckey-' || k.id`))} as encrypted
      from oidc_keys k order by k.version desc limit 1`);
