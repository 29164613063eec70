import { notFound, sql, type Sql } from '#platform/kernel';
import { selectStreamVersions, type StreamVersion } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import {
  requireCurrentAccess,
  requirePermission,
  selectPermittedOrganization,
  selectPermittedScopes,
  selectWorkspaceGrants,
  type Actor,
  type Grant,
  hasOrganizationName,
} from '#api/access';
import { requireTeamChange, selectActiveMembersAmong, selectTeamScope, type TeamScope } from '#identity/people';
import type { SubscribableType } from './triggers.js';

/** An owner of configurations as a path names it: a workspace or team by id, an organization by name. */
export type SubscribableReference =
  { readonly workspace: string } | { readonly team: string } | { readonly organization: string };

/** What decides whether a caller may manage the configurations of an owner. */
export type SubscribableScope = {
  readonly subscribableType: SubscribableType;
  readonly organization: string;
  readonly grants: readonly Grant[];
  /** Null unless the owner is a team. */
  readonly team: TeamScope | null;
};

/**
 * Throws the refusal of the permission table unless the caller may change the settings of the owner. The same callers may
 * read configurations, because those show the URL, which is a secret.
 */
export const requireNotificationAccess = (actor: Actor, scope: SubscribableScope): void => {
  if (scope.subscribableType === 'workspaces') {
    requirePermission(actor, 'read-workspace', scope);
    return requirePermission(actor, 'update-workspace', scope);
  }
  if (scope.subscribableType === 'organizations') {
    return requirePermission(actor, 'update-organization', { organization: scope.organization });
  }
  if (!scope.team) throw notFound();
  return requireTeamChange(actor, 'manage-teams', scope.team);
};

const NO_GRANTS = sql.raw(`'[]'::jsonb as grants`);
const NO_TEAM = sql.raw('null::jsonb as team');

/** Returns the columns of a SubscribableScope for a row `n` of configurations with the join of `joinScope`. */
export const selectScopeColumns = (actor: Actor): Sql => sql`n.subscribable_type as "subscribableType", n.organization,
  case when w.id is null then '[]'::jsonb else ${selectWorkspaceGrants(actor, 'w')} end as grants,
  case when n.subscribable_type = 'teams' then ${selectTeamScope(actor, sql.raw('n.subscribable'))} end as team`;

export const JOIN_SCOPE = sql.raw(
  `left join workspaces w on w.id = n.subscribable and n.subscribable_type = 'workspaces'`,
);

/** Condition: the owner is no deleted workspace. Its configurations stay until it is recovered or purged. */
export const HAS_OWNER = sql.raw(`(n.subscribable_type <> 'workspaces' or w.id is not null)`);

/** Returns a query for the owner and its scope; no row if it does not exist. */
const selectOwner = (owner: SubscribableReference, actor: Actor): Sql => {
  if ('workspace' in owner) {
    return sql`select w.id, w.organization, 'workspaces' as "subscribableType", ${NO_TEAM},
                      ${selectWorkspaceGrants(actor, 'w')} as grants
                 from workspaces w where w.id = ${owner.workspace} and ${requireCurrentAccess(actor)}`;
  }
  if ('team' in owner) {
    return sql`select parent.id, parent.organization, 'teams' as "subscribableType", ${NO_GRANTS},
                      ${selectTeamScope(actor, sql.raw('parent.id'))} as team
                 from teams parent where parent.id = ${owner.team} and ${requireCurrentAccess(actor)}`;
  }
  return sql`select id, id as organization, 'organizations' as "subscribableType", ${NO_GRANTS}, ${NO_TEAM}
               from organizations where ${hasOrganizationName('organizations', owner.organization)} and ${requireCurrentAccess(actor)}`;
};

/**
 * Returns a table expression with the owner, for lists: a caller without the permission gets no row, and the statement
 * reads nothing else. For a team, callers that only see the team are refused afterwards.
 */
export const selectPermittedOwner = (owner: SubscribableReference, actor: Actor): Sql => {
  if ('workspace' in owner) return selectPermittedScopes(actor, 'update-workspace', selectOwner(owner, actor));
  if ('team' in owner) return selectPermittedScopes(actor, 'read-teams', selectOwner(owner, actor));
  return sql`(select id, id as organization, 'organizations' as "subscribableType", ${NO_GRANTS}, ${NO_TEAM}
                from ${selectPermittedOrganization(actor, 'update-organization', owner.organization)} offset 0)`;
};

/**
 * Returns a table expression with the id and the scope of a configuration, for lists of what belongs to it: a caller without
 * the permission gets no row. For a team, callers that only see the team are refused afterwards.
 */
export const selectPermittedConfiguration = (id: string, actor: Actor): Sql => {
  const select = (type: SubscribableType): Sql => sql`
    select n.id, ${selectScopeColumns(actor)} from notification_configurations n ${JOIN_SCOPE}
     where n.id = ${id} and n.subscribable_type = ${type} and ${HAS_OWNER} and ${requireCurrentAccess(actor)}`;
  return sql`(select * from ${selectPermittedScopes(actor, 'update-workspace', select('workspaces'))} of_workspace
              union all
              select * from ${selectPermittedScopes(actor, 'read-teams', select('teams'))} of_team
              union all
              select * from ${selectPermittedScopes(actor, 'update-organization', select('organizations'))} of_organization)`;
};

type SubscribableForCreation = SubscribableScope & {
  readonly id: string;
  /** Versions of the owner and of its organization: their deletions append nothing to streams of configurations. */
  readonly preconditions: readonly StreamVersion[];
  /** Number of its configurations. */
  readonly existing: number;
  /** Active members of the organization among the requested users. */
  readonly members: readonly string[];
};

/** Returns the owner of a new configuration with these users. Throws the refusal of the permission table. */
export const loadSubscribable = async (
  database: Database,
  actor: Actor,
  owner: SubscribableReference,
  users: readonly string[],
): Promise<SubscribableForCreation> => {
  const row = await database.row<SubscribableForCreation>(sql`
    select owner.*, ${selectStreamVersions(sql.raw('array[owner.id, owner.organization]'))} as preconditions,
           (select count(*) from notification_configurations n where n.subscribable = owner.id) as existing,
           ${selectActiveMembersAmong(sql`${users}::text[]`, sql.raw('owner.organization'))} as members
      from (${selectOwner(owner, actor)}) owner`);
  if (!row) throw notFound();
  requireNotificationAccess(actor, row);
  return row;
};

/** Returns the condition that the owner has this number of configurations or more. */
export const hasConfigurations = (owner: string, most: number): Sql =>
  sql`(select count(*) >= ${most} from notification_configurations n where n.subscribable = ${owner})`;
