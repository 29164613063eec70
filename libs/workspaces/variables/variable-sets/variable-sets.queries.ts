import { notFound, sql, type Sql, type Timestamp } from '#platform/kernel';
import { selectStreamVersions, buildSnapshotJson, type StreamVersion, type StreamSnapshot } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import {
  requirePermission,
  requirePermittedRow,
  requireCurrentAccess,
  selectProjectGrants,
  isGrantedProject,
  isGrantedWorkspace,
  can,
  selectPermittedOrganization,
  isPermittedByRole,
  selectPermittedScopes,
  type Actor,
  type Grant,
  type Identity,
  type Permission,
  type PermissionScope,
  hasOrganizationName,
} from '#api/access';
import {
  buildLimitWithSize,
  toListPage,
  slicePage,
  buildFittingPageSize,
  type ListPage,
  type ListRow,
  type PageRequest,
} from '#api/json-api';
import type { VariableSetTargetKind, VariableSetTargets } from './variable-set.js';
import { NONE_STORED, type StoredVariables } from '../variables/variable.js';
import { selectOwner, selectSetsReaching, selectStoredVariables } from '../variables/variables.queries.js';

export type VariableSetRow = {
  readonly id: string;
  readonly organization: string;
  readonly organizationName: string;
  /** Id of the project that owns the set; null if the organization owns it. */
  readonly project: string | null;
  readonly name: string;
  readonly description: string | null;
  readonly global: boolean;
  readonly priority: boolean;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  readonly variables: readonly string[];
  /** Ids of the workspaces that the set is applied to and that the caller may see. */
  readonly workspaces: readonly string[];
  readonly projects: readonly string[];
  /** Access of the caller's teams to the project that owns the set. */
  readonly grants: readonly Grant[];
};

const selectColumns = (actor: Identity): Sql => sql`
  s.id, s.organization, o.name as "organizationName", s.project, s.name, s.description, s.global, s.priority,
  s.created_at as "createdAt", s.updated_at as "updatedAt",
  array(select v.id from variables v where v.owner = s.id order by v.key, v.category) as variables,
  array(select a.id from variable_set_targets t join workspaces a on a.id = t.target
         where t.variable_set = s.id and (s.project is null or a.project = s.project)
           and (o."readsWorkspaces" or ${isGrantedWorkspace(actor, 'a')}) order by a.name) as workspaces,
  array(select a.id from variable_set_targets t join projects a on a.id = t.target
         where t.variable_set = s.id and (o."readsProjects" or ${isGrantedProject(actor, sql.raw('a.id'))})
         order by a.name) as projects,
  ${selectProjectGrants(actor, sql.raw('s.project'))} as grants`;

const selectFrom = (actor: Identity): Sql => sql`from variable_sets s join (
  select id, name, ${isPermittedByRole(actor, 'read-workspace')} as "readsWorkspaces",
         ${isPermittedByRole(actor, 'read-project')} as "readsProjects" from organizations) o on o.id = s.organization`;

export const selectVariableSetById = (id: string, actor: Identity): Sql =>
  sql`select ${selectColumns(actor)} ${selectFrom(actor)} where s.id = ${id}`;

export const findVariableSet = async (database: Database, actor: Actor, id: string): Promise<VariableSetRow> => {
  const row = await database.row<VariableSetRow>(
    sql`${selectVariableSetById(id, actor)} and ${requireCurrentAccess(actor)}`,
  );
  return requirePermittedRow(actor, 'read-variable-sets', row);
};

const matchesSearch = (search: string | undefined): Sql =>
  search ? sql`position(lower(${search}) in lower(s.name)) > 0` : sql`true`;

/** One page of sets. `pageSize` can be smaller than requested if the variables are included. */
export type VariableSetListPage = ListPage<VariableSetRow> & { readonly pageSize: number };

export type VariableSetListRequest = {
  readonly page: PageRequest;
  readonly search: string | undefined;
  readonly withVariables: boolean;
};

/** Returns an expression for the size of each page of the sets `s` that meet the condition. */
const selectSize = ({ page, search, withVariables }: VariableSetListRequest, condition: Sql): Sql =>
  withVariables
    ? buildFittingPageSize(
        page,
        sql`select sum(octet_length(v.value)) from variable_sets s join variables v on v.owner = s.id
             where ${condition} and ${matchesSearch(search)} group by s.id`,
      )
    : sql`${page.size}::bigint`;

/**
 * Returns one page of the organization's sets. If the caller's role permits all sets, the query selects the page. Other
 * callers see sets of projects that their teams may read. These sets are few, and only the permission table decides
 * about them, so they are filtered after the query.
 */
export const listVariableSets = async (
  database: Database,
  actor: Actor,
  organizationName: string,
  request: VariableSetListRequest,
): Promise<VariableSetListPage> => {
  const { page, search } = request;
  type ListedRow = ListRow<VariableSetRow, { owner: string; whole: boolean; pageSize: number; total: number }>;
  const rows = await database.slowRows<ListedRow>(
    actor,
    sql`
    select owner.id as owner, owner.whole, owner."pageSize", page.*,
           (select count(*) from variable_sets s where s.organization = owner.id and ${matchesSearch(search)}) as total
      from (select id, ${isPermittedByRole(actor, 'read-variable-sets')} as whole,
                   ${selectSize(request, sql.raw('s.organization = organizations.id'))} as "pageSize"
              from ${selectPermittedOrganization(actor, 'read-organization', organizationName)} offset 0) owner
      left join lateral (
        select ${selectColumns(actor)} ${selectFrom(actor)}
         where s.organization = owner.id and ${matchesSearch(search)}
           and (owner.whole or ${isGrantedProject(actor, sql.raw('s.project'))})
         order by s.name
         limit case when owner.whole then owner."pageSize" end
        offset case when owner.whole then ${page.number - 1}::bigint * owner."pageSize" end) page on true
     order by page.name`,
  );
  const [first] = rows;
  if (!first) throw notFound();
  requirePermission(actor, 'read-organization', { organization: first.owner });
  const { pageSize } = first;
  const listed = toListPage(rows);
  if (first.whole) return { ...listed, pageSize };
  const visible = listed.rows.filter((row) => can(actor, 'read-variable-sets', row));
  return { rows: slicePage(visible, { ...page, size: pageSize }), total: visible.length, pageSize };
};

/** Resource that sets apply to: a workspace, or a project with all its workspaces. */
export type ReachTarget = { readonly workspace: string } | { readonly project: string };

const buildReachQuery = (actor: Actor, reached: ReachTarget): { permission: Permission; owner: Sql; reaches: Sql } =>
  'workspace' in reached
    ? {
        permission: 'read-variables',
        owner: selectOwner(actor, reached),
        reaches: sql`s.id in (select id from (${selectSetsReaching(sql.raw('owner'))}) r)`,
      }
    : {
        permission: 'read-variable-sets',
        owner: sql`select p.id, p.organization, ${selectProjectGrants(actor, sql.raw('p.id'))} as grants
                     from projects p where p.id = ${reached.project} and ${requireCurrentAccess(actor)}`,
        reaches: sql`s.organization = owner.organization
          and (s.global or s.project = owner.id
               or exists (select 1 from variable_set_targets t where t.variable_set = s.id and t.target = owner.id))`,
      };

/**
 * Returns one page of the sets that apply to the target, also sets of the organization. Callers that may read the
 * target see all of them.
 */
export const listSetsReaching = async (
  database: Database,
  actor: Actor,
  reached: ReachTarget,
  request: VariableSetListRequest,
): Promise<VariableSetListPage> => {
  const { page, search } = request;
  const { permission, owner, reaches } = buildReachQuery(actor, reached);
  const rows = await database.slowRows<
    ListRow<VariableSetRow, { scope: PermissionScope; pageSize: number; total: number }>
  >(
    actor,
    sql`
    select jsonb_build_object('organization', owner.organization, 'grants', owner.grants) as scope, page.*, sized."pageSize",
           (select count(*) from variable_sets s where ${reaches} and ${matchesSearch(search)}) as total
      from ${selectPermittedScopes(actor, permission, owner)} owner
     cross join lateral (select ${selectSize(request, reaches)} as "pageSize" offset 0) sized
      left join lateral (
        select ${selectColumns(actor)} ${selectFrom(actor)} where ${reaches} and ${matchesSearch(search)}
         order by s.name ${buildLimitWithSize(page, sql.raw('sized."pageSize"'))}) page on true
     order by page.name`,
  );
  const [first] = rows;
  if (!first) throw notFound();
  requirePermission(actor, permission, first.scope);
  return { ...toListPage(rows), pageSize: first.pageSize };
};

/** A workspace or project of the organization that a command names. */
type VariableSetTarget = StreamVersion & { readonly kind: VariableSetTargetKind; readonly project: string };

const selectTargets = (organization: Sql, { workspaces, projects }: VariableSetTargets): Sql => sql`coalesce((
  select jsonb_agg(jsonb_build_object('kind', t.kind, 'stream', t.id, 'project', t.project, 'version', st.version)
                   order by t.id)
    from (select 'workspaces' as kind, id, project from workspaces
           where organization = ${organization} and id = any (${workspaces}::text[])
          union all
          select 'projects', id, id from projects
           where organization = ${organization} and id = any (${projects}::text[])) t
    join event_store.streams st on st.stream = t.id), '[]') as targets`;

export type OrganizationForVariableSet = {
  readonly organization: string;
  readonly project: string | null;
  readonly grants: readonly Grant[];
  readonly preconditions: readonly StreamVersion[];
  readonly targets: readonly VariableSetTarget[];
  readonly variables: StoredVariables;
};

/**
 * Returns the organization of a new set. `project` is null if the request names none, or if the organization has no
 * such project.
 */
export const loadOrganizationForVariableSet = async (
  database: Database,
  actor: Actor,
  organization: string,
  project: string | null,
  targets: VariableSetTargets,
): Promise<OrganizationForVariableSet> => {
  const row = await database.row<Omit<OrganizationForVariableSet, 'variables'>>(sql`
    select o.id as organization, p.id as project, ${selectProjectGrants(actor, sql.raw('p.id'))} as grants,
           ${selectStreamVersions(sql.raw('array[o.id, p.id]'))} as preconditions, ${selectTargets(sql.raw('o.id'), targets)}
      from organizations o left join projects p on p.organization = o.id and p.id = ${project}
     where ${hasOrganizationName('o', organization)} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requirePermission(actor, 'manage-variable-sets', row);
  return { ...row, variables: NONE_STORED };
};

export const loadVariableSetForCommand = async (
  database: Database,
  actor: Actor,
  id: string,
  targets: VariableSetTargets,
): Promise<OrganizationForVariableSet & { readonly snapshot: StreamSnapshot }> => {
  const row = await database.row<OrganizationForVariableSet & { readonly snapshot: StreamSnapshot }>(sql`
    select s.organization, s.project, ${selectProjectGrants(actor, sql.raw('s.project'))} as grants,
           ${selectStreamVersions(sql.raw('array[s.organization, s.project]'))} as preconditions,
           ${selectTargets(sql.raw('s.organization'), targets)}, ${selectStoredVariables('s.id', '')} as variables,
           ${buildSnapshotJson('st')} as snapshot
      from variable_sets s join event_store.streams st on st.stream = s.id
     where s.id = ${id} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requirePermission(actor, 'read-variable-sets', row);
  requirePermission(actor, 'manage-variable-sets', row);
  return row;
};
