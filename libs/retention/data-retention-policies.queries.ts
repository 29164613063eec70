import { notFound, sql, type Sql } from '#kernel';
import { selectStreamVersions, selectSnapshotJson, type StreamVersion, type StreamSnapshot } from '#event-store';
import type { Database } from '#postgres';
import {
  requirePermission,
  requireCurrentAccess,
  selectWorkspaceGrants,
  type Actor,
  type Grant,
  type Permission,
} from '#access';
import type { RetentionTarget } from '#data-retention-policies';

/** Whose policy is meant: a workspace's, by its id, or an organization's, by its name. */
export type PolicyOwner = { readonly workspace: string } | { readonly organization: string };

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

export const selectPolicyById = (id: string): Sql => sql`
  select ${COLUMNS} from data_retention_policies d join organizations o on o.id = d.organization where d.id = ${id}`;

/** For a join: its own policy, or else its organization's. `owner` and `organization` are columns with their ids. */
export const joinEffectivePolicy = (owner: string, organization: string): Sql =>
  sql.raw(`lateral (select own.* from data_retention_policies own where own.owner in (${owner}, ${organization})
                     order by own.owner = ${owner} desc limit 1)`);

type PolicyScope = { readonly organization: string; readonly grants: readonly Grant[] };

/** Where it stands: rows `o` and, of a workspace, `w`; and the column of its id. */
const selectPolicyScope = (of: PolicyOwner): { readonly from: Sql; readonly owner: 'w.id' | 'o.id' } =>
  'workspace' in of
    ? {
        from: sql`workspaces w join organizations o on o.id = w.organization and w.id = ${of.workspace}`,
        owner: 'w.id',
      }
    : { from: sql`(select * from organizations where name = ${of.organization}) o`, owner: 'o.id' };

const selectGrants = (of: PolicyOwner, actor: Actor): Sql =>
  'workspace' in of ? selectWorkspaceGrants(actor, 'w') : sql.raw(`'[]'::jsonb`);

/** The policy that counts there, where the caller may know. */
export const findEffectivePolicy = async (database: Database, actor: Actor, of: PolicyOwner): Promise<PolicyRow> => {
  const { from, owner } = selectPolicyScope(of);
  const row = await database.row<PolicyScope & (PolicyRow | { readonly id: null })>(sql`
    select o.id as organization, ${selectGrants(of, actor)} as grants, ${COLUMNS}
      from ${from} left join ${joinEffectivePolicy(owner, 'o.id')} d on true
     where ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  const permission: Permission = 'workspace' in of ? 'read-workspace' : 'read-organization';
  requirePermission(actor, permission, row);
  if (row.id === null) throw notFound();
  return row;
};

/** What a decision needs to know besides the policy's own stream. */
export type PolicyForCommand = PolicyScope & {
  readonly target: RetentionTarget;
  readonly organizationName: string;
  /** Null where it has none of its own. */
  readonly policy: string | null;
  readonly snapshot: StreamSnapshot | null;
  /** The organization, and the workspace: their ends take the policy's row along and are not told by its stream. */
  readonly preconditions: readonly StreamVersion[];
};

export const loadPolicyForCommand = async (
  database: Database,
  actor: Actor,
  of: PolicyOwner,
): Promise<PolicyForCommand> => {
  const { from, owner } = selectPolicyScope(of);
  const type = 'workspace' in of ? 'workspaces' : 'organizations';
  const row = await database.row<PolicyForCommand>(sql`
    select o.id as organization, ${selectGrants(of, actor)} as grants, o.name as "organizationName",
           jsonb_build_object('type', ${type}::text, 'id', ${sql.raw(owner)}) as target,
           d.id as policy, ${selectSnapshotJson('d.id')} as snapshot, ${selectStreamVersions(sql.raw(`array[o.id, ${owner}]`))} as preconditions
      from ${from} left join data_retention_policies d on d.owner = ${sql.raw(owner)}
     where ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  const permission: Permission = 'workspace' in of ? 'manage-data-retention' : 'update-organization';
  requirePermission(actor, permission, row);
  return row;
};
