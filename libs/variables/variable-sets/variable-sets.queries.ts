import { notFound, sql, type Sql, type Timestamp } from '#kernel';
import { selectStreamVersions, buildSnapshotJson, type StreamVersion, type StreamSnapshot } from '#event-store';
import type { Database } from '#postgres';
import {
  requirePermission,
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
} from '#access';
import {
  buildLimitWithSize,
  toListPage,
  slicePage,
  buildFittingPageSize,
  type ListPage,
  type PageRequest,
} from '#json-api';
import type { VariableSetTargetKind, VariableSetTargets } from './variable-set.js';
import { NONE_STORED, type StoredVariables } from '../variables/variable.js';
import { selectOwner, selectSetsReaching, selectStoredVariables } from '../variables/variables.queries.js';

export type VariableSetRow = {
  readonly id: string;
  readonly organization: string;
  readonly organizationName: string;
  /** The project that owns it. */
  readonly project: string | null;
  readonly name: string;
  readonly description: string | null;
  readonly global: boolean;
  readonly priority: boolean;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  readonly variables: readonly string[];
  /** What it is applied to, as far as the caller may see it. */
  readonly workspaces: readonly string[];
  readonly projects: readonly string[];
  /** What the caller's teams have been given on the project that owns it. */
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
  if (!row) throw notFound();
  requirePermission(actor, 'read-variable-sets', row);
  return row;
};

const matchesSearch = (search: string | undefined): Sql =>
  search ? sql`position(lower(${search}) in lower(s.name)) > 0` : sql`true`;

/** A page of sets. Its size may be less than the one that was asked for, if variables come along. */
export type VariableSetListPage = ListPage<VariableSetRow> & { readonly pageSize: number };

/** The parameters of a list of variable sets. */
export type VariableSetListRequest = {
  readonly page: PageRequest;
  readonly search: string | undefined;
  /** Whether the variables of the sets come along. */
  readonly withVariables: boolean;
};

/** The size of each page of the sets `s` under a condition: an SQL expression. */
const selectSize = ({ page, search, withVariables }: VariableSetListRequest, condition: Sql): Sql =>
  withVariables
    ? buildFittingPageSize(
        page,
        sql`select sum(octet_length(v.value)) from variable_sets s join variables v on v.owner = s.id
             where ${condition} and ${matchesSearch(search)} group by s.id`,
      )
    : sql`${page.size}::bigint`;

/**
 * The organization's sets. Who sees them all by standing gets one page from the query; others get those of projects where
 * their teams may read them, which are few, and which only the permission table can tell.
 */
export const listVariableSets = async (
  database: Database,
  actor: Actor,
  organizationName: string,
  asked: VariableSetListRequest,
): Promise<VariableSetListPage> => {
  const { page, search } = asked;
  type Found = VariableSetRow & { owner: string; whole: boolean; pageSize: number; total: number };
  const found = await database.slowRows<Found>(
    actor,
    sql`
    select owner.id as owner, owner.whole, owner."pageSize", page.*,
           (select count(*) from variable_sets s where s.organization = owner.id and ${matchesSearch(search)}) as total
      from (select id, ${isPermittedByRole(actor, 'read-variable-sets')} as whole,
                   ${selectSize(asked, sql.raw('s.organization = organizations.id'))} as "pageSize"
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
  const [first] = found;
  if (!first) throw notFound();
  requirePermission(actor, 'read-organization', { organization: first.owner });
  const { pageSize } = first;
  const listed = toListPage(found);
  if (first.whole) return { ...listed, pageSize };
  const visible = listed.rows.filter((row) => can(actor, 'read-variable-sets', row));
  return { rows: slicePage(visible, { ...page, size: pageSize }), total: visible.length, pageSize };
};

/** What sets reach: a workspace, or a project with all that is in it. */
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

/** The sets that count there, also those of the organization: what reaches a place is for all who read there. */
export const listSetsReaching = async (
  database: Database,
  actor: Actor,
  reached: ReachTarget,
  asked: VariableSetListRequest,
): Promise<VariableSetListPage> => {
  const { page, search } = asked;
  const { permission, owner, reaches } = buildReachQuery(actor, reached);
  const found = await database.slowRows<VariableSetRow & { place: PermissionScope; pageSize: number; total: number }>(
    actor,
    sql`
    select jsonb_build_object('organization', owner.organization, 'grants', owner.grants) as place, page.*, sized."pageSize",
           (select count(*) from variable_sets s where ${reaches} and ${matchesSearch(search)}) as total
      from ${selectPermittedScopes(actor, permission, owner)} owner
     cross join lateral (select ${selectSize(asked, reaches)} as "pageSize" offset 0) sized
      left join lateral (
        select ${selectColumns(actor)} ${selectFrom(actor)} where ${reaches} and ${matchesSearch(search)}
         order by s.name ${buildLimitWithSize(page, sql.raw('sized."pageSize"'))}) page on true
     order by page.name`,
  );
  const [first] = found;
  if (!first) throw notFound();
  requirePermission(actor, permission, first.place);
  return { ...toListPage(found), pageSize: first.pageSize };
};

/** A workspace or project that a command names, where the organization has it. */
export type VariableSetTarget = StreamVersion & { readonly kind: VariableSetTargetKind; readonly project: string };

const selectTargets = (organization: Sql, { workspaces, projects }: VariableSetTargets): Sql => sql`coalesce((
  select jsonb_agg(jsonb_build_object('kind', t.kind, 'stream', t.id, 'project', t.project, 'version', st.version)
                   order by t.id)
    from (select 'workspaces' as kind, id, project from workspaces
           where organization = ${organization} and id = any (${workspaces}::text[])
          union all
          select 'projects', id, id from projects
           where organization = ${organization} and id = any (${projects}::text[])) t
    join event_store.streams st on st.stream = t.id), '[]') as targets`;

/** What a decision needs to know besides the stream's own state. */
export type OrganizationForVariableSet = {
  readonly organization: string;
  readonly project: string | null;
  readonly grants: readonly Grant[];
  readonly preconditions: readonly StreamVersion[];
  readonly targets: readonly VariableSetTarget[];
  readonly variables: StoredVariables;
};

/** Where a new set would go; `project` null where it is none of the organization's, or none is named. */
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
     where o.name = ${organization} and ${requireCurrentAccess(actor)}`);
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
