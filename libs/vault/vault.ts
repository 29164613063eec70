import { sql, type Sql } from '#kernel';
import { Envelope } from '#encryption';
import type { Database } from '#postgres';

/** Part of the key derivation: another value opens no secret that is there. */
export const PURPOSE = 'vault';

/**
 * Secrets that must be read again: sensitive variables, private keys. They lie encrypted beside the log and never in it;
 * events hold their ids. What changes them are statements for the append's transaction (`read` of EventStore.handle), so
 * that an event and its secret come together or not at all.
 *
 * A handler adds `seal` only where the command surely yields an event: without one, nothing is appended. What ends a
 * secret is a projection's affair (`buildSecretDeletion`); an organization's go with it, by the vault's own.
 */
export class Vault {
  private readonly envelope: Envelope;

  constructor(
    private readonly database: Database,
    encryptionKey: Buffer,
  ) {
    this.envelope = new Envelope(encryptionKey, PURPOSE);
  }

  /** Puts the secret there, in the place of one of the same id. */
  seal(id: string, organization: string, text: string): Sql {
    return sql`insert into vault.secrets (id, organization, sealed)
               values (${id}, ${organization}, ${this.envelope.seal(id, Buffer.from(text))})
               on conflict (id) do update set sealed = excluded.sealed`;
  }

  async open(id: string): Promise<string | undefined> {
    const row = await this.database.row<{ sealed: string | null }>(
      sql`select ${selectEncryptedSecret(sql`${id}`)} as sealed`,
    );
    return typeof row?.sealed === 'string' ? this.unseal(id, row.sealed) : undefined;
  }

  /** What a statement has read as `sealed`. */
  unseal(id: string, text: string): string {
    return this.envelope.open(id, Buffer.from(text, 'base64')).toString('utf8');
  }
}

/** An expression for the secret of that id as it lies there, null where there is none: for rows that are told with it. */
export const selectEncryptedSecret = (id: Sql): Sql =>
  sql`(select encode(secret.sealed, 'base64') from vault.secrets secret where secret.id = ${id})`;

/** For projections without tables: the secrets of these ids end. `ids` is a list, or a query for one. */
export const buildSecretDeletion = (ids: Sql): Sql => sql`delete from vault.secrets where id in (${ids})`;
