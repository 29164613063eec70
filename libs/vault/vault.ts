import { sql, type Sql } from '#kernel';
import type { Database } from '#event-store';
import { Envelope } from './envelope.js';

/**
 * Secrets that must be read again: sensitive variables, private keys. They lie encrypted beside the log and never in it;
 * events hold their ids. What changes them are statements for the append's transaction (`read` of EventStore.handle), so
 * that an event and its secret come together or not at all.
 *
 * A handler adds `seal` only where the command surely yields an event: without one, nothing is appended. What ends a
 * secret is a projection's affair (`forgetSecrets`); an organization's go with it, by the vault's own.
 */
export class Vault {
  private readonly envelope: Envelope;

  constructor(
    private readonly database: Database,
    encryptionKey: Buffer,
  ) {
    this.envelope = new Envelope(encryptionKey);
  }

  /** Puts the secret there, in the place of one of the same id. */
  seal(id: string, organization: string, text: string): Sql {
    return sql`insert into vault.secrets (id, organization, sealed)
               values (${id}, ${organization}, ${this.envelope.seal(id, text)})
               on conflict (id) do update set sealed = excluded.sealed`;
  }

  async open(id: string): Promise<string | undefined> {
    return (await this.openAll([id])).get(id);
  }

  /** Those of them that there are, by id, in one statement. */
  async openAll(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows = await this.database.rows<{ id: string; sealed: Buffer }>(
      sql`select id, sealed from vault.secrets where id = any (${ids}::text[])`,
    );
    return new Map(rows.map(({ id, sealed }) => [id, this.envelope.open(id, sealed)]));
  }
}

/** For projections without tables: the secrets of these ids end. `ids` is a list, or a query for one. */
export const forgetSecrets = (ids: Sql): Sql => sql`delete from vault.secrets where id in (${ids})`;
