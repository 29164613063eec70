import { sql, type Sql } from '#platform/kernel';
import { Envelope, type EncryptionKeys } from '#platform/encryption';
import type { Database } from '#platform/postgres';

/** Part of the key derivation: with another value, no existing secret can be decrypted. */
export const PURPOSE = 'vault';

/** The owner of secrets that belong to no organization. */
const SITE = 'site';

/** Matches the id of a resource, and a suffix if the secret is not the only one of the resource. */
const SECRET_ID = /^([a-z]+-[A-Za-z0-9]+)(?:-[a-z]+)*$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Returns the resource that a secret belongs to; none for secrets of webhooks, which are not those of another site. */
export const findSecretOwner = ({ id }: Readonly<Record<string, unknown>>): readonly unknown[] => {
  const text = String(id);
  return UUID.test(text) ? [] : [SECRET_ID.exec(text)?.[1] ?? text];
};

/**
 * Secrets that must be read again: sensitive variables, private keys. They are stored encrypted beside the log and
 * never in it; events contain their ids. The methods that change secrets return statements for the append's transaction
 * (`read` of EventStore.handle), so that an event and its secret are stored together or not at all.
 *
 * A handler adds `seal` only if the command certainly yields an event: without an event nothing is appended.
 * Projections delete secrets (`buildSecretDeletion`); the vault's own projection deletes those of a deleted
 * organization.
 */
export class Vault {
  private readonly envelope: Envelope;

  constructor(
    private readonly database: Database,
    encryptionKeys: EncryptionKeys,
  ) {
    this.envelope = new Envelope(encryptionKeys, PURPOSE);
  }

  /**
   * Returns a statement that inserts the secret or replaces the one with the same id. `organization`: null for a secret of
   * the site. `condition`: the statement does nothing if it is false.
   */
  storeSecret(id: string, organization: string | null, text: string, condition: Sql = sql.raw('true')): Sql {
    return sql`insert into vault.secrets (id, organization, sealed)
               select ${id}::text, ${organization ?? SITE}::text, ${this.envelope.encrypt(id, Buffer.from(text))}::bytea
                where ${condition}
               on conflict (id) do update set sealed = excluded.sealed`;
  }

  async open(id: string): Promise<string | undefined> {
    const row = await this.database.row<{ encrypted: string | null }>(
      sql`select ${selectEncryptedSecret(sql`${id}`)} as encrypted`,
    );
    return typeof row?.encrypted === 'string' ? this.decrypt(id, row.encrypted) : undefined;
  }

  /** Decrypts a secret that a statement has read with `selectEncryptedSecret`. */
  decrypt(id: string, text: string): string {
    return this.envelope.open(id, Buffer.from(text, 'base64')).toString('utf8');
  }
}

/**
 * Returns an SQL expression for the encrypted secret with this id, or null if there is none, for statements that read a
 * row together with its secret.
 */
export const selectEncryptedSecret = (id: Sql): Sql =>
  sql`(select encode(secret.sealed, 'base64') from vault.secrets secret where secret.id = ${id})`;

/** Returns an SQL expression for the size of the encrypted secret, which Postgres knows without reading it. */
export const selectEncryptedBytes = (id: Sql): Sql =>
  sql`(select octet_length(secret.sealed) from vault.secrets secret where secret.id = ${id})`;

/**
 * Returns a statement that deletes the secrets with these ids, for projections without tables. `ids` is a list of
 * values or a query.
 */
export const buildSecretDeletion = (ids: Sql): Sql => sql`delete from vault.secrets where id in (${ids})`;
