import { notFound, sql, type Sql, type Timestamp } from '#platform/kernel';
import { selectStreamVersions, buildSnapshotJson, type StreamVersion, type StreamSnapshot } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import {
  requirePermission,
  requireCurrentAccess,
  selectProjectGrants,
  selectWorkspaceGrants,
  selectPermittedScopes,
  type Actor,
  type Grant,
  type Permission,
  type PermissionScope,
  hasOrganizationName,
  hasWorkspaceName,
} from '#api/access';
import { buildLimit, toListPage, type ListPage, type ListRow, type PageRequest } from '#api/json-api';
import { rankVariables, resolveEffectiveVariables, type VariableSetSource } from './precedence.js';
import type { VariableCategory, VariableOwner, StoredVariables } from './variable.js';

/** Owner of variables in a request: a workspace by its id, its names or the id of one of its variables, or a set. */
export type OwnerTarget =
  | { readonly workspace: string }
  | { readonly organization: string; readonly name: string }
  | { readonly workspaceOf: string }
  | { readonly variableSet: string };

export type VariableRow = {
  readonly id: string;
  readonly owner: string;
  readonly ownerType: VariableOwner['type'];
  readonly ownerLink: string;
  readonly key: string;
  readonly category: VariableCategory;
  /** Null for a sensitive variable. */
  readonly value: string | null;
  readonly description: string | null;
  readonly hcl: boolean;
  readonly sensitive: boolean;
  readonly versionId: string;
  readonly createdAt: Timestamp;
};

const COLUMNS = sql.raw(`v.id, v.owner, case when w.id is null then 'varsets' else 'workspaces' end as "ownerType",
  case when w.id is null then '/api/v2/varsets/' || v.owner
       else '/api/v2/organizations/' || o.name || '/workspaces/' || w.name end as "ownerLink",
  v.key, v.category, v.value, v.description, v.hcl, v.sensitive, md5(v.id || ' ' || v.version) as "versionId",
  v.created_at as "createdAt"`);

const FROM = sql.raw(
  'from variables v left join workspaces w on w.id = v.owner left join organizations o on o.id = w.organization',
);

export const selectVariableById = (id: string): Sql => sql`select ${COLUMNS} ${FROM} where v.id = ${id}`;

/** Selects owners of variables. `streams` are the streams whose deletion deletes the variables. */
const OWNER = {
  workspaces: (actor: Actor, condition: Sql): Sql => sql`
    select w.id, 'workspaces' as type, w.organization, w.project,
           ${selectWorkspaceGrants(actor, 'w')} as grants,
           array[w.id, w.organization] as streams
      from workspaces w join organizations o on o.id = w.organization
     where ${condition} and ${requireCurrentAccess(actor)}`,
  varsets: (actor: Actor, id: string): Sql => sql`
    select s.id, 'varsets' as type, s.organization, s.project,
           ${selectProjectGrants(actor, sql.raw('s.project'))} as grants,
           array[s.id, s.organization, s.project] as streams
      from variable_sets s
     where s.id = ${id} and ${requireCurrentAccess(actor)}`,
};

export const selectOwner = (actor: Actor, target: OwnerTarget): Sql => {
  if ('variableSet' in target) return OWNER.varsets(actor, target.variableSet);
  if ('workspace' in target) return OWNER.workspaces(actor, sql`w.id = ${target.workspace}`);
  if ('workspaceOf' in target) {
    return OWNER.workspaces(actor, sql`w.id = (select owner from variables where id = ${target.workspaceOf})`);
  }
  return OWNER.workspaces(
    actor,
    sql`${hasOrganizationName('o', target.organization)} and ${hasWorkspaceName('w', target.name)}`,
  );
};

type OwnerScopeRow = PermissionScope & {
  readonly organization: string;
  readonly type: VariableOwner['type'];
  readonly grants: readonly Grant[];
};

type VariableOwnerRow = OwnerScopeRow & { readonly home: string };

/** Owner of a list of variables, also of an empty list. */
export type OwnerInOrganization = { readonly owner: VariableOwner; readonly organization: string };

const toOwner = ({ type, home, organization }: VariableOwnerRow): OwnerInOrganization => ({
  owner: { type, id: home },
  organization,
});

const PERMISSION = {
  workspaces: { read: 'read-variables', write: 'update-variables' },
  varsets: { read: 'read-variable-sets', write: 'manage-variable-sets' },
} as const satisfies Record<VariableOwner['type'], Record<'read' | 'write', Permission>>;

/** Returns the row. Rejects callers without the permission, which depends on the type of the owner in the row. */
const requireVariablePermission = <R extends OwnerScopeRow>(
  actor: Actor,
  to: 'read' | 'write',
  row: R | undefined,
): R => {
  if (!row) throw notFound();
  requirePermission(actor, PERMISSION[row.type].read, row);
  requirePermission(actor, PERMISSION[row.type][to], row);
  return row;
};

/** Returns the owner as a table expression, empty if the caller may not read its variables. */
const selectReadableOwner = (actor: Actor, target: OwnerTarget): Sql =>
  selectPermittedScopes(
    actor,
    PERMISSION['variableSet' in target ? 'varsets' : 'workspaces'].read,
    selectOwner(actor, target),
  );

const selectVariables = (owner: Sql): Sql =>
  sql`select ${COLUMNS} ${FROM} where v.owner = ${owner} order by v.key, v.category`;

/** Returns one page of variables, or all of them without a page, and the count of all, from one statement. */
export const listVariables = async (
  database: Database,
  actor: Actor,
  target: OwnerTarget,
  page: PageRequest | null,
): Promise<ListPage<VariableRow> & OwnerInOrganization> => {
  const rows = await database.slowRows<ListRow<VariableRow, VariableOwnerRow & { total: number }>>(
    actor,
    sql`
    select owner.id as home, owner.type, owner.organization, owner.grants, page.*,
           (select count(*) from variables v where v.owner = owner.id) as total
      from ${selectReadableOwner(actor, target)} owner
      left join lateral (${selectVariables(sql.raw('owner.id'))} ${page ? buildLimit(page) : sql.empty}) page on true
     order by page.key, page.category`,
  );
  return { ...toListPage(rows), ...toOwner(requireVariablePermission(actor, 'read', rows[0])) };
};

export type WorkspaceVariableRow = VariableRow & OwnerScopeRow;

/** The variables of one workspace always fit. */
const MAX_INCLUDED_BYTES = 8 * 1_024 * 1_024;
/** Bytes of a variable in a document, besides its value. */
const BYTES_BESIDE_VALUE = 1_024;

/** Selects the variables of workspaces, up to 8 MiB. The variables of a page of workspaces can have a hundred times as much. */
export const selectVariablesOfWorkspaces = (workspaces: Sql, actor: Actor): Sql => sql`
  select ${COLUMNS}, 'workspaces' as type, w.organization, ${selectWorkspaceGrants(actor, 'w')} as grants
    ${FROM} join (
      select id, sum(${BYTES_BESIDE_VALUE}::int + coalesce(octet_length(value), 0))
                   over (order by owner, key, category) as bytes
        from variables where owner = any (${workspaces})) sized on sized.id = v.id
   where sized.bytes <= ${MAX_INCLUDED_BYTES}
   order by v.owner, v.key, v.category`;

/** Selects the sets that apply to a workspace, and their scope. A project's set applies only inside the project. */
export const selectSetsReaching = (workspace: Sql): Sql => sql`
  select s.id, 'global' as scope from variable_sets s where s.global and s.organization = ${workspace}.organization
   union all
  select s.id, t.kind from variable_set_targets t join variable_sets s on s.id = t.variable_set
   where t.target in (${workspace}.id, ${workspace}.project) and (s.project is null or s.project = ${workspace}.project)`;

export type EffectiveCandidate = VariableRow & { readonly source: VariableSetSource | null };

/** Selects the variables of a workspace, the row `owner`, and of the sets that apply to it, with their sources. */
export const selectCandidates = (owner: string): Sql => {
  const applicableSets = sql`
    select s.*, r.scope from (${selectSetsReaching(sql.raw(owner))}) r join variable_sets s on s.id = r.id`;
  return sql`
    select ${COLUMNS}, null::jsonb as source ${FROM} where v.owner = ${sql.raw(owner)}.id
     union all
    select ${COLUMNS},
           jsonb_build_object('scope', s.scope, 'priority', s.priority, 'name', s.name,
                              'ownedBy', case when s.project is null then 'organization' else 'project' end)
      ${FROM} join (${applicableSets}) s on s.id = v.owner`;
};

/**
 * Returns the effective variables of a workspace, from its own variables and those of all sets that apply to it. With
 * `withOverridden`, each is followed by the variables that it overrides.
 */
export const listEffectiveVariables = async (
  database: Database,
  actor: Actor,
  workspace: string,
  { withOverridden }: { readonly withOverridden: boolean },
): Promise<OwnerInOrganization & { readonly variables: readonly VariableRow[] }> => {
  const rows = await database.slowRows<ListRow<EffectiveCandidate, VariableOwnerRow>>(
    actor,
    sql`
    select owner.id as home, owner.type, owner.organization, owner.grants, candidate.*
      from ${selectReadableOwner(actor, { workspace })} owner
      left join lateral (${selectCandidates('owner')}) candidate on true
     order by candidate.key, candidate.category`,
  );
  const owned = toOwner(requireVariablePermission(actor, 'read', rows[0]));
  const candidates = rows.filter((row) => row.id !== null);
  return { ...owned, variables: withOverridden ? rankVariables(candidates) : resolveEffectiveVariables(candidates) };
};

type VariableAndOwner = VariableRow & OwnerScopeRow;

/** Returns the variable of the target. Throws `not-found` if the caller may not read it. */
export const findVariable = async (
  database: Database,
  actor: Actor,
  target: OwnerTarget,
  id: string,
): Promise<VariableAndOwner> =>
  requireVariablePermission(
    actor,
    'read',
    await database.row<VariableAndOwner>(sql`
      select owner.type, owner.organization, owner.grants, one.*
        from (${selectOwner(actor, target)}) owner
        join lateral (select ${COLUMNS} ${FROM} where v.owner = owner.id and v.id = ${id}) one on true`),
  );

type OwnerForVariable = OwnerScopeRow & {
  readonly owner: string;
  readonly preconditions: readonly StreamVersion[];
  /** The owner's variables except the one that the command changes. */
  readonly storedVariables: StoredVariables;
};

/** Returns an expression for the `StoredVariables` of an owner, without the variable `id`. */
export const selectStoredVariables = (owner: string, id: string): Sql => sql`
  (select jsonb_build_object('count', count(*), 'bytes', coalesce(sum(octet_length(other.value)), 0))
     from variables other where other.owner = ${sql.raw(owner)} and other.id <> ${id})`;

export const loadOwnerForNewVariable = async (
  database: Database,
  actor: Actor,
  target: OwnerTarget,
): Promise<OwnerForVariable> =>
  requireVariablePermission(
    actor,
    'write',
    await database.row<OwnerForVariable>(sql`
      select owner.id as owner, owner.type, owner.organization, owner.grants,
             ${selectStreamVersions(sql.raw('owner.streams'))} as preconditions, ${selectStoredVariables('owner.id', '')} as "storedVariables"
        from (${selectOwner(actor, target)}) owner`),
  );

type VariableForCommand = OwnerForVariable & { readonly id: string; readonly snapshot: StreamSnapshot };

export const loadVariableForCommand = async (
  database: Database,
  actor: Actor,
  target: OwnerTarget,
  id: string,
): Promise<VariableForCommand> =>
  requireVariablePermission(
    actor,
    'write',
    await database.row<VariableForCommand>(sql`
      select v.id, owner.id as owner, owner.type, owner.organization, owner.grants,
             ${selectStreamVersions(sql.raw('owner.streams'))} as preconditions, ${selectStoredVariables('owner.id', id)} as "storedVariables",
             ${buildSnapshotJson('st')} as snapshot
        from (${selectOwner(actor, target)}) owner join variables v on v.owner = owner.id and v.id = ${id}
        join event_store.streams st on st.stream = v.id`),
  );

export const selectVariablesOfSets = (sets: readonly string[]): Sql =>
  sql`select ${COLUMNS} ${FROM} where v.owner = any (${sets}::text[]) order by v.owner, v.key, v.category`;
