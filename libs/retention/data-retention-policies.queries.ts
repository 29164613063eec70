import { notFound, sql, type Sql } from '#kernel';
import { heldStreams, snapshotAt, type Database, type Held, type Snapshot } from '#event-store';
import { demand, fresh, grantsOnWorkspace, type Actor, type Grant, type Permission } from '#access';
import type { RetentionTarget } from '#data-retention-policies';

/** Whose policy is meant: a workspace's, by its id, or an organization's, by its name. */
export type PolicyOf = { readonly workspace: string } | { readonly organization: string };

export type PolicyRow = {
  readonly id: string;
  readonly organizationName: string;
  /** Null where it is the organization's. */
  readonly workspace: string | null;
  readonly deleteOlderThanDays: number | null;
};

const COLUMNS = sql.raw(`d.id, o.name as "organizationName",
  case when d.owner <> d.organization then d.owner end as workspace,
  d.delete_older_than_days as "deleteOlderThanDays"`);

export const policyById = (id: string): Sql => sql`
  select ${COLUMNS} from data_retention_policies d join organizations o on o.id = d.organization where d.id = ${id}`;

/** For a join: its own policy, or else its organization's. `owner` and `organization` are columns with their ids. */
export const policyThatCounts = (owner: string, organization: string): Sql =>
  sql.raw(`lateral (select own.* from data_retention_policies own where own.owner in (${owner}, ${organization})
                     order by own.owner = ${owner} desc limit 1)`);

type Place = { readonly organization: string; readonly grants: readonly Grant[] };

/** Where it stands: rows `o` and, of a workspace, `w`; and the column of its id. */
const placeOf = (of: PolicyOf): { readonly from: Sql; readonly owner: 'w.id' | 'o.id' } =>
  'workspace' in of
    ? {
        from: sql`workspaces w join organizations o on o.id = w.organization and w.id = ${of.workspace}`,
        owner: 'w.id',
      }
    : { from: sql`(select * from organizations where name = ${of.organization}) o`, owner: 'o.id' };

const grantsOn = (of: PolicyOf, actor: Actor): Sql =>
  'workspace' in of ? grantsOnWorkspace(actor, 'w') : sql.raw(`'[]'::jsonb`);

/** The policy that counts there, where the caller may know. */
export const policyFor = async (database: Database, actor: Actor, of: PolicyOf): Promise<PolicyRow> => {
  const { from, owner } = placeOf(of);
  const row = await database.row<Place & (PolicyRow | { readonly id: null })>(sql`
    select o.id as organization, ${grantsOn(of, actor)} as grants, ${COLUMNS}
      from ${from} left join ${policyThatCounts(owner, 'o.id')} d on true
     where ${fresh(actor)}`);
  if (!row) throw notFound();
  const permission: Permission = 'workspace' in of ? 'read-workspace' : 'read-organization';
  demand(actor, permission, row);
  if (row.id === null) throw notFound();
  return row;
};

/** What a decision needs to know besides the policy's own stream. */
export type PolicyForCommand = Place & {
  readonly target: RetentionTarget;
  readonly organizationName: string;
  /** Null where it has none of its own. */
  readonly policy: string | null;
  readonly snapshot: Snapshot | null;
  /** The organization, and the workspace: their ends take the policy's row along and are not told by its stream. */
  readonly held: readonly Held[];
};

export const policyForCommand = async (database: Database, actor: Actor, of: PolicyOf): Promise<PolicyForCommand> => {
  const { from, owner } = placeOf(of);
  const type = 'workspace' in of ? 'workspaces' : 'organizations';
  const row = await database.row<PolicyForCommand>(sql`
    select o.id as organization, ${grantsOn(of, actor)} as grants, o.name as "organizationName",
           jsonb_build_object('type', ${type}::text, 'id', ${sql.raw(owner)}) as target,
           d.id as policy, ${snapshotAt('d.id')} as snapshot, ${heldStreams(sql.raw(`array[o.id, ${owner}]`))} as held
      from ${from} left join data_retention_policies d on d.owner = ${sql.raw(owner)}
     where ${fresh(actor)}`);
  if (!row) throw notFound();
  const permission: Permission = 'workspace' in of ? 'manage-data-retention' : 'update-organization';
  demand(actor, permission, row);
  return row;
};
