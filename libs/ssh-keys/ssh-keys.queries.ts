import { notFound, sql, type Sql } from '#kernel';
import { selectStreamVersions, buildSnapshotJson, type StreamVersion, type StreamSnapshot } from '#event-store';
import type { Database } from '#postgres';
import { requirePermission, requireCurrentAccess, listInOrganization, type Actor, type Permission } from '#access';
import type { ListPage, PageRequest } from '#json-api';

export type SshKeyRow = { readonly id: string; readonly organization: string; readonly name: string };

const COLUMNS = sql.raw('k.id, k.organization, k.name');

const LIST = {
  permission: 'read-ssh-keys',
  columns: COLUMNS,
  from: sql.raw('from ssh_keys k'),
  where: sql.raw('k.organization = owner.id'),
  order: sql.raw('name, id'),
} as const;

export const selectSshKeyById = (id: string): Sql => sql`select ${COLUMNS} from ssh_keys k where k.id = ${id}`;

type SshKeyForCommand = SshKeyRow & {
  readonly snapshot: StreamSnapshot;
  /**
   * Version of the organization: its deletion also deletes the private key, but appends nothing to the key's stream.
   */
  readonly preconditions: readonly StreamVersion[];
};

/** Returns the key. Throws the refusal of the permission table if the caller lacks the permission. */
export const findSshKey = async (
  database: Database,
  actor: Actor,
  permission: Permission,
  id: string,
): Promise<SshKeyForCommand> => {
  const row = await database.row<SshKeyForCommand>(sql`
    select ${COLUMNS}, ${buildSnapshotJson('s')} as snapshot, ${selectStreamVersions(sql.raw('array[k.organization]'))} as preconditions
      from ssh_keys k join event_store.streams s on s.stream = k.id where k.id = ${id} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requirePermission(actor, permission, row);
  return row;
};

/** Returns one page and the count of all keys, from one statement, and the organization's id. */
export const listSshKeys = (
  database: Database,
  actor: Actor,
  organization: string,
  page: PageRequest,
): Promise<ListPage<SshKeyRow> & { readonly organization: string }> =>
  listInOrganization(database, actor, { ...LIST, organization }, page);
