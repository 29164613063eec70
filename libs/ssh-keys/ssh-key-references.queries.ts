import { sql, unprocessable, type Sql } from '#kernel';
import { expectVersion, type StreamWrite } from '#event-store';

/**
 * The version of the key's stream, to hold while something is appended that names the key; null where that organization
 * has no such key. `organization` is a column.
 */
export const selectSshKeyVersion = (key: string | null, organization: Sql): Sql =>
  key === null
    ? sql.raw('null::bigint')
    : sql`(select s.version from ssh_keys k join event_store.streams s on s.stream = k.id
            where k.id = ${key} and k.organization = ${organization})`;

/** Holds the key at the version it was found at: it is not deleted while somebody is given it. */
export const expectSshKeyVersion = (key: string | null, version: number | null): readonly StreamWrite[] => {
  if (key === null) return [];
  if (version === null) throw unprocessable('SSH key does not exist', 'id');
  return [expectVersion(key, version)];
};
