import { notFound, sql, type Sql } from '#kernel';
import { heldStreams, snapshotOf, type Database, type Held, type Snapshot } from '#event-store';
import { demand, fresh, listOfOrganization, type Actor, type Permission } from '#access';
import type { Listed, Page } from '#json-api';

export type SshKeyRow = { readonly id: string; readonly organization: string; readonly name: string };

const COLUMNS = sql.raw('k.id, k.organization, k.name');

const LIST = {
  permission: 'read-ssh-keys',
  columns: COLUMNS,
  from: sql.raw('from ssh_keys k'),
  where: sql.raw('k.organization = owner.id'),
  order: sql.raw('name, id'),
} as const;

export const sshKeyById = (id: string): Sql => sql`select ${COLUMNS} from ssh_keys k where k.id = ${id}`;

type SshKeyForCommand = SshKeyRow & {
  readonly snapshot: Snapshot;
  /** The organization, whose end takes the key's text along and is not told by the key's stream. */
  readonly held: readonly Held[];
};

/** The key, where the caller may do that with it. */
export const sshKeyFor = async (
  database: Database,
  actor: Actor,
  permission: Permission,
  id: string,
): Promise<SshKeyForCommand> => {
  const row = await database.row<SshKeyForCommand>(sql`
    select ${COLUMNS}, ${snapshotOf('s')} as snapshot, ${heldStreams(sql.raw('array[k.organization]'))} as held
      from ssh_keys k join event_store.streams s on s.stream = k.id where k.id = ${id} and ${fresh(actor)}`);
  if (!row) throw notFound();
  demand(actor, permission, row);
  return row;
};

/** Returns one page and the count of all keys, from one statement, and the organization's id. */
export const listSshKeys = (
  database: Database,
  actor: Actor,
  organization: string,
  page: Page,
): Promise<Listed<SshKeyRow> & { readonly organization: string }> =>
  listOfOrganization(database, actor, { ...LIST, organization }, page);
