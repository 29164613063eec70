import { notFound, sql, type Sql } from '#kernel';
import type { Database, Snapshot } from '#event-store';
import { demand, fresh, type Actor, type Permission } from '#access';
import { limitOf, type Page } from '#json-api';

export type SshKeyRow = { readonly id: string; readonly organization: string; readonly name: string };

const COLUMNS = sql.raw('k.id, k.organization, k.name');

export const sshKeyById = (id: string): Sql => sql`select ${COLUMNS} from ssh_keys k where k.id = ${id}`;

type SshKeyForCommand = SshKeyRow & { readonly snapshot: Snapshot };

/** The key, where the caller may do that with it. */
export const sshKeyFor = async (
  database: Database,
  actor: Actor,
  permission: Permission,
  id: string,
): Promise<SshKeyForCommand> => {
  const row = await database.row<SshKeyForCommand>(sql`
    select ${COLUMNS}, jsonb_build_object('version', s.version, 'decider', s.decider, 'state', s.state) as snapshot
      from ssh_keys k join event_store.streams s on s.stream = k.id where k.id = ${id} and ${fresh(actor)}`);
  if (!row) throw notFound();
  demand(actor, permission, row);
  return row;
};

type PlaceForNew = { readonly organization: string; readonly version: number };

export const placeForNew = async (database: Database, actor: Actor, organization: string): Promise<PlaceForNew> => {
  const row = await database.row<PlaceForNew>(sql`
    select o.id as organization, s.version
      from organizations o join event_store.streams s on s.stream = o.id
     where o.name = ${organization} and ${fresh(actor)}`);
  if (!row) throw notFound();
  demand(actor, 'manage-ssh-keys', row);
  return row;
};

/** One page and the count of all, in one statement. */
export const listSshKeys = async (
  database: Database,
  actor: Actor,
  organizationName: string,
  page: Page,
): Promise<{ rows: SshKeyRow[]; total: number }> => {
  const found = await database.rows<SshKeyRow & { owner: string; total: number }>(sql`
    select o.id as owner, (select count(*) from ssh_keys k where k.organization = o.id) as total, page.*
      from organizations o
      left join lateral (select ${COLUMNS} from ssh_keys k where k.organization = o.id
                          order by k.name, k.id ${limitOf(page)}) page on true
     where o.name = ${organizationName} and ${fresh(actor)}
     order by page.name, page.id`);
  const [first] = found;
  if (!first) throw notFound();
  demand(actor, 'read-ssh-keys', { organization: first.owner });
  return { rows: found.filter((row) => row.id !== null), total: first.total };
};
