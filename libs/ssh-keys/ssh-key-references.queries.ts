import { sql, unprocessable, type Sql } from '#kernel';
import { unchanged, type Write } from '#event-store';

/**
 * The version of the key's stream, to hold while something is appended that names the key; null where that organization
 * has no such key. `organization` is a column.
 */
export const sshKeyVersion = (key: string | null, organization: Sql): Sql =>
  key === null
    ? sql.raw('null::bigint')
    : sql`(select s.version from ssh_keys k join event_store.streams s on s.stream = k.id
            where k.id = ${key} and k.organization = ${organization})`;

/** Holds the key at the version it was found at: it is not deleted while somebody is given it. */
export const heldSshKey = (key: string | null, version: number | null): readonly Write[] => {
  if (key === null) return [];
  if (version === null) throw unprocessable('SSH key does not exist', 'id');
  return [unchanged(key, version)];
};
