import { notFound, sql, type Sql } from '#platform/kernel';
import {
  selectStreamVersions,
  selectSnapshotJson,
  type StreamVersion,
  type StreamSnapshot,
} from '#storage/event-store';
import type { Database } from '#platform/postgres';
import {
  requirePermission,
  requireCurrentAccess,
  selectWorkspaceGrants,
  type Actor,
  type Grant,
  type Permission,
  hasOrganizationName,
} from '#api/access';
import type { RetentionTarget } from '#organizations/data-retention-policies';

/** Owner of a policy: a workspace by id, or an organization by name. */
export type PolicyOwner = { readonly workspace: string } | { readonly organization: string };

export type PolicyRow = {
  readonly id: string;
  readonly organizationName: string;
  /** Null if the policy belongs to the organization. */
  readonly workspace: string | null;
  readonly deleteOlderThanDays: number | null;
};

const COLUMNS = sql.raw(`d.id, o.name as "organizationName",
  case when d.owner <> d.organization then d.owner end as workspace,
  d.delete_older_than_days as "deleteOlderThanDays"`);

export const selectPolicyById = (id: string): Sql => sql`
  select ${COLUMNS} from data_retention_policies d join organizations o on o.id = d.organization where d.id = ${id}`;

/**
 * Returns a join with the effective policy: the owner's policy, otherwise that of its organization. `owner` and
 * `organization` are columns with their ids.
 */
export const joinEffectivePolicy = (owner: string, organization: string): Sql =>
  sql.raw(`lateral (select own.* from data_retention_policies own where own.owner in (${owner}, ${organization})
                     order by own.owner = ${owner} desc limit 1)`);

type PolicyScope = { readonly organization: string; readonly grants: readonly Grant[] };

/** Returns the rows of the owner (`o`, and `w` for a workspace) and the column of its id. */
const selectPolicyScope = (of: PolicyOwner): { readonly from: Sql; readonly owner: 'w.id' | 'o.id' } =>
  'workspace' in of
    ? {
        from: sql`workspaces w join organizations o on o.id = w.organization and w.id = ${of.workspace}`,
        owner: 'w.id',
      }
    : {
        from: sql`(select * from organizations where ${hasOrganizationName('organizations', of.organization)}) o`,
        owner: 'o.id',
      };

const selectGrants = (of: PolicyOwner, actor: Actor): Sql =>
  'workspace' in of ? selectWorkspaceGrants(actor, 'w') : sql.raw(`'[]'::jsonb`);

/** Returns the effective policy of the owner. Throws a refusal if there is none or the caller cannot read the owner. */
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

/** The state that a decision needs besides the stream of the policy. */
type PolicyForCommand = PolicyScope & {
  readonly target: RetentionTarget;
  readonly organizationName: string;
  /** Null if the owner has no policy of its own. */
  readonly policy: string | null;
  readonly snapshot: StreamSnapshot | null;
  /**
   * Versions of the organization and the workspace. Deleting them also deletes the row of the policy, which the stream
   * of the policy does not record.
   */
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
