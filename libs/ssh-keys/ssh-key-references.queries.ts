import { sql, unprocessable, type Sql } from '#kernel';
import { expectVersion, type StreamWrite } from '#event-store';

/**
 * Returns an expression for the version of the key's stream, for `expectSshKeyVersion`; null if the organization has no
 * such key. `organization` is a column.
 */
export const selectSshKeyVersion = (key: string | null, organization: Sql): Sql =>
  key === null
    ? sql.raw('null::bigint')
    : sql`(select s.version from ssh_keys k join event_store.streams s on s.stream = k.id
            where k.id = ${key} and k.organization = ${organization})`;

/**
 * Expects the key's version in an append that refers to the key, so that the key is not deleted in between. Refuses an
 * unknown key.
 */
export const expectSshKeyVersion = (key: string | null, version: number | null): readonly StreamWrite[] => {
  if (key === null) return [];
  if (version === null) throw unprocessable('SSH key does not exist', 'id');
  return [expectVersion(key, version)];
};
