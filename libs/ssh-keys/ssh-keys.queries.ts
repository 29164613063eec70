import { notFound, sql, type Sql } from '#kernel';
import { heldStreams, snapshotOf, type Database, type Held, type Snapshot } from '#event-store';
import { demand, fresh, organizationFor, type Actor, type Permission } from '#access';
import { limitOf, listedIn, type Listed, type Page } from '#json-api';

export type SshKeyRow = { readonly id: string; readonly organization: string; readonly name: string };

const COLUMNS = sql.raw('k.id, k.organization, k.name');

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

/** One page and the count of all, in one statement. */
export const listSshKeys = async (
  database: Database,
  actor: Actor,
  organizationName: string,
  page: Page,
): Promise<Listed<SshKeyRow> & { readonly organization: string }> => {
  const found = await database.slowRows<SshKeyRow & { owner: string; total: number }>(
    actor,
    sql`
    select o.id as owner, (select count(*) from ssh_keys k where k.organization = o.id) as total, page.*
      from (select id from ${organizationFor(actor, 'read-ssh-keys', organizationName)}) o
      left join lateral (select ${COLUMNS} from ssh_keys k where k.organization = o.id
                          order by k.name, k.id ${limitOf(page)}) page on true
     order by page.name, page.id`,
  );
  const [first] = found;
  if (!first) throw notFound();
  demand(actor, 'read-ssh-keys', { organization: first.owner });
  return { ...listedIn(found), organization: first.owner };
};
