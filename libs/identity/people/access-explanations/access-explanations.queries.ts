import { badRequest, notFound, sql, type Sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import {
  requireCurrentAccess,
  requirePermission,
  selectProjectGrants,
  selectWorkspaceGrants,
  type Actor,
  type Grant,
  hasOrganizationName,
} from '#api/access';
import {
  isPermittedByGrant,
  isPermittedEverywhere,
  type ExplainedRequest,
  type ExplainedResource,
  type ExplainedSubject,
  type ExplainedTeam,
  type PermittedResources,
} from './access-explanation.js';
import { getExplainedResourceKind, type ExplainedPermission } from './explained-permissions.js';

/** What a request wants explained. `resource`: the id of a workspace or a project, or null. */
export type ExplanationRequest = {
  readonly subject: { readonly kind: 'user' | 'team'; readonly id: string };
  readonly permission: ExplainedPermission;
  readonly resource: { readonly kind: 'workspace' | 'project'; readonly id: string } | null;
};

type SubjectRow = Omit<ExplainedSubject, 'teams' | 'kind' | 'organization'>;

type ExplanationRow = {
  readonly organization: string;
  readonly subject: SubjectRow | null;
  readonly teams: readonly ExplainedTeam[];
  readonly resource: (ExplainedResource & { readonly grants: readonly Grant[] }) | null;
};

/** Selects the resource with the grants of the caller, who must be able to read it. */
const selectResource = (actor: Actor, resource: ExplanationRequest['resource']): Sql => {
  if (resource === null) return sql`select null::jsonb as found, null::text as workspace, null::text as project`;
  if (resource.kind === 'project') {
    return sql`
      select jsonb_build_object('project', jsonb_build_object('id', p.id, 'name', p.name), 'workspace', null,
                                'grants', ${selectProjectGrants(actor, sql.raw('p.id'))}) as found,
             null::text as workspace, p.id as project
        from projects p where p.id = ${resource.id} and p.organization = owner.id`;
  }
  return sql`
    select jsonb_build_object('project', jsonb_build_object('id', p.id, 'name', p.name),
                              'workspace', jsonb_build_object('id', w.id, 'name', w.name),
                              'grants', ${selectWorkspaceGrants(actor, 'w')}) as found,
           w.id as workspace, p.id as project
      from workspaces w join projects p on p.id = w.project where w.id = ${resource.id} and w.organization = owner.id`;
};

/** Selects a user who is an active member, or a team, of the organization `owner`. */
const selectSubject = ({ kind, id }: ExplanationRequest['subject']): Sql =>
  kind === 'team'
    ? sql`select jsonb_build_object('id', t.id, 'name', t.name, 'siteAdmin', false, 'suspended', false)
            from teams t where t.id = ${id} and t.organization = owner.id`
    : sql`select jsonb_build_object('id', u.id, 'name', u.username, 'siteAdmin', u.site_admin, 'suspended', u.suspended)
            from users u join organization_memberships m on m.user_id = u.id
           where u.id = ${id} and m.organization = owner.id and m.status = 'active'`;

/** The grants of the team `t` on the resource `found`, as `selectWorkspaceGrants` and `selectProjectGrants` select them. */
const TEAM_GRANTS = sql.raw(`(
  select coalesce(jsonb_agg(jsonb_build_object('on', g.place, 'level', g.access, 'custom', g.custom)), '[]')
    from (select 'workspace' as place, access, custom from team_workspaces
           where workspace = found.workspace and team = t.id
          union all
          select 'project', access, custom from team_projects where project = found.project and team = t.id
          union all
          select 'project', 'passage', null where found.workspace is null and exists (
            select 1 from team_workspaces tw join workspaces seen on seen.id = tw.workspace
             where seen.project = found.project and tw.team = t.id)) g)`);

const selectTeams = ({ kind, id }: ExplanationRequest['subject']): Sql => sql`
  (select coalesce(jsonb_agg(jsonb_build_object(
            'id', t.id, 'name', t.name, 'organization', t.organization, 'access', t.organization_access,
            'owners', owner.owners_team = t.id, 'grants', ${TEAM_GRANTS}) order by t.name), '[]')
     from teams t
    where t.organization = owner.id
      and ${kind === 'team' ? sql`t.id = ${id}` : sql`t.id in (select team from team_members where user_id = ${id})`})`;

const READS = { workspace: 'read-workspace', project: 'read-project' } as const;

const requireMatchingResource = ({ permission, resource }: ExplanationRequest): void => {
  const kind = getExplainedResourceKind(permission);
  if (resource === null || resource.kind === kind) return;
  const accepted = kind === 'organization' ? 'no resource' : `filter[${kind}]`;
  const detail = `filter[${resource.kind}]: the permission ${permission} is checked on the ${kind}, so send ${accepted}`;
  throw badRequest(detail, `filter[${resource.kind}]`);
};

/**
 * Returns the subject with its teams and their grants, and the resource. Throws `not-found` for callers that may not have
 * the access explained or may not read the resource, and `bad-request` for a subject that is not in the organization.
 */
export const loadExplanationRequest = async (
  database: Database,
  actor: Actor,
  organizationName: string,
  request: ExplanationRequest,
): Promise<{ readonly subject: ExplainedSubject; readonly resource: ExplainedResource | null }> => {
  const { subject: who, resource } = request;
  const row = await database.row<ExplanationRow>(sql`
    select owner.id as organization, (${selectSubject(who)}) as subject, ${selectTeams(who)} as teams,
           found.found as resource
      from organizations owner left join lateral (${selectResource(actor, resource)}) found on true
     where ${hasOrganizationName('owner', organizationName)} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  const { organization } = row;
  requirePermission(actor, 'read-organization', { organization });
  requirePermission(actor, 'explain-access', { organization, ...(who.kind === 'user' ? { user: who.id } : {}) });
  requireMatchingResource(request);
  if (resource !== null) {
    if (row.resource === null) throw notFound();
    requirePermission(actor, READS[resource.kind], { organization, grants: row.resource.grants });
  }
  if (row.subject === null) {
    const what = who.kind === 'user' ? 'a member who has accepted the invitation' : 'a team';
    throw badRequest(`filter[${who.kind}]: must be the id of ${what}, got "${who.id}"`, `filter[${who.kind}]`);
  }
  return {
    subject: { ...row.subject, kind: who.kind, organization, teams: row.teams },
    resource: row.resource,
  };
};

const MAX_EXAMPLES = 10;

/** Selects the different grants that teams have on anything. Most teams have one or two levels. */
const selectGrantKinds = (teams: readonly string[]): Sql => sql`
  select 'workspace' as "on", access as level, custom from team_workspaces where team = any (${teams}::text[])
  union select 'project', access, custom from team_projects where team = any (${teams}::text[])
  union select 'project', 'passage', null from team_workspaces where team = any (${teams}::text[])`;

/** Selects the ids of the workspaces or projects on which teams have one of these grants themselves. */
const selectGrantedBy = (
  on: Grant['on'] & ('workspace' | 'project'),
  teams: readonly string[],
  grants: readonly Grant[],
): Sql => {
  const kinds = grants.filter((grant) => grant.on === on);
  return sql`select ${sql.raw(on)} as id from ${sql.raw(`team_${on}s`)}
              where team = any (${teams}::text[]) and exists (
                select 1 from jsonb_array_elements(${sql.json(kinds)}::jsonb) kind
                 where kind ->> 'level' = access and (access <> 'custom' or kind -> 'custom' = custom))`;
};

/** Selects the ids of the workspaces or projects to which one of these grants of the teams applies, also by inheritance. */
const selectGrantedIds = (kind: 'workspace' | 'project', teams: readonly string[], grants: readonly Grant[]): Sql => {
  const onProjects = selectGrantedBy('project', teams, grants);
  if (kind === 'workspace') {
    return sql`${selectGrantedBy('workspace', teams, grants)}
               union select w.id from workspaces w where w.project in (${onProjects})`;
  }
  return grants.some(({ level }) => level === 'passage')
    ? sql`${onProjects} union select w.project from workspaces w
            where w.id in (select workspace from team_workspaces where team = any (${teams}::text[]))`
    : onProjects;
};

/**
 * Returns on how many workspaces or projects of the organization the subject has a permission, for requests that name none.
 * Null for permissions that are checked on the organization.
 */
export const findPermittedResources = async (
  database: Database,
  request: ExplainedRequest,
): Promise<PermittedResources | null> => {
  const { subject, permission } = request;
  const kind = getExplainedResourceKind(permission);
  if (kind === 'organization') return null;
  const table = sql.raw(`${kind}s`);
  const isInOrganization = sql`r.organization = ${subject.organization}`;
  const teams = subject.teams.map(({ id }) => id);
  const kinds = await database.rows<Grant>(selectGrantKinds(teams));
  const grants = kinds.filter((grant) => isPermittedByGrant(request, grant));
  const isPermitted = isPermittedEverywhere(request)
    ? sql`true`
    : sql`r.id in (${selectGrantedIds(kind, teams, grants)})`;
  const resources = await database.row<PermittedResources>(sql`
    with permitted as (select r.id, r.name from ${table} r where ${isInOrganization} and ${isPermitted})
    select (select count(*) from ${table} r where ${isInOrganization}) as total, (select count(*) from permitted) as permitted,
           (select coalesce(jsonb_agg(jsonb_build_object('id', id, 'name', name) order by name), '[]')
              from (select id, name from permitted order by name limit ${MAX_EXAMPLES}) example) as examples`);
  if (!resources) throw new Error('an aggregate returned no row');
  return resources;
};
