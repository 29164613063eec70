import { notFound, sql, type ExecutionMode, type Sql, type Tag, type Timestamp } from '#platform/kernel';
import type { Database, KeyedQuery } from '#platform/postgres';
import {
  requirePermittedRow,
  requireCurrentAccess,
  selectProjectGrants,
  selectWorkspaceGrants,
  selectCurrentWorkspaceGrants,
  selectGrantsOfTeams,
  type Actor,
  type DocumentKind,
  type Grant,
  type GrantOfTeam,
  type Identity,
  type Permission,
  type PermissionScope,
  hasOrganizationName,
  hasWorkspaceName,
} from '#api/access';
import type { ResourceKeys } from '#api/document-cache';
import { selectUsablePoolVersion } from '#organizations/agents';
import { buildViewsAt, selectStoredAttributes, type PointInTime } from '#api/json-api';
import { selectOwnPolicy, type PolicyIdentifier } from '#organizations/data-retention-policies';
import { selectFixedKeys, PROJECT_TAGS, selectTagNames, type TagNames } from '#organizations/tag-bindings';
import { selectSshKeyVersion } from '#organizations/ssh-keys';
import { selectConnectionUse } from '#vcs/connections';
import { IDLE_DESTROY_AT, inheritsDuration } from '../settings/auto-destroy.queries.js';
import { AGENT_POOL, EXECUTION_MODE, INHERITED_MODE } from '../settings/execution.queries.js';
import type { WorkspaceLockState } from './workspace-state.js';
import { buildLockSnapshotJson, type LockSnapshot } from '../lock/lock.view.js';
import { WORKSPACE_SETTINGS, type VcsRepoInput, type WorkspaceSettings } from '../settings/workspace-settings.js';
import type { FixedTagKey } from '../tags/tags.js';
import { SELECT_SITE_RELEASES, type SiteRelease } from '../tool-versions/tool-versions.view.js';

/** The tables that the statement of one workspace reads for callers that are no runs. */
export const WORKSPACE_DOCUMENT: DocumentKind = {
  name: 'workspace',
  tables: [
    'workspaces',
    'organizations',
    'projects',
    'workspace_tags',
    'project_tags',
    'state_version_outputs',
    'variables',
    'configuration_versions',
    'workspace_runs',
    'workspace_metrics',
    'assessment_results',
    'data_retention_policies',
    'team_workspaces',
    'team_projects',
  ],
};

/** A workspace by its id, or by the names of its organization and itself. */
export type WorkspaceTarget = { readonly id: string } | { readonly organization: string; readonly name: string };

/** Durations are averages in milliseconds; null if no run reached that phase. */
type WorkspaceMetrics = {
  readonly runs: number;
  readonly failures: number;
  readonly policyFailures: number;
  readonly planMs: number | null;
  readonly applyMs: number | null;
};

export type WorkspaceRow = {
  readonly id: string;
  readonly organization: string;
  readonly organizationName: string;
  readonly project: string;
  readonly name: string;
  readonly settings: WorkspaceSettings;
  /** The effective mode: its own, or the inherited one. */
  readonly executionMode: ExecutionMode;
  readonly agentPool: string | null;
  /** The duration of the project, which is effective if the workspace inherits it. */
  readonly projectAutoDestroyActivityDuration: string | null;
  /** When the resources are destroyed because the state has not changed; null if they are not. */
  readonly idleDestroyAt: Timestamp | null;
  readonly allowForceDelete: boolean;
  readonly lock: (WorkspaceLockState & { readonly at: Timestamp }) | null;
  readonly tags: readonly Tag[];
  /** Bindings of its project, including overridden ones. */
  readonly projectTags: readonly Tag[];
  readonly currentConfigurationVersion: string | null;
  readonly currentStateVersion: string | null;
  readonly resourceCount: number;
  readonly outputs: readonly string[];
  /** The current run, or the last one. */
  readonly currentRun: string | null;
  /** The newest result of a health assessment, and when it was recorded; null if there is none. */
  readonly currentAssessmentResult: string | null;
  readonly lastAssessmentAt: Timestamp | null;
  readonly sshKey: string | null;
  /** The workspace's own policy; null if it inherits the organization's. */
  readonly dataRetentionPolicy: PolicyIdentifier | null;
  /** Ids of its variables. */
  readonly variables: readonly string[];
  /** Metrics over its last runs; null if no counted run has ended. */
  readonly metrics: WorkspaceMetrics | null;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  readonly latestChangeAt: Timestamp;
  /** Access of the caller's teams to the workspace. */
  readonly grants: readonly Grant[];
};

const COLUMNS = sql`w.id, w.organization, o.name as "organizationName", w.project, w.name,
  ${selectStoredAttributes(WORKSPACE_SETTINGS, 'w.settings')} as settings, w.lock,
  ${EXECUTION_MODE} as "executionMode", ${AGENT_POOL} as "agentPool",
  p.settings ->> 'autoDestroyActivityDuration' as "projectAutoDestroyActivityDuration", ${IDLE_DESTROY_AT} as "idleDestroyAt",
  (o.settings ->> 'allowForceDeleteWorkspaces')::boolean as "allowForceDelete",
  coalesce((select jsonb_agg(jsonb_build_object('key', t.key, 'value', t.value) order by t.added_in, t.ordinal)
              from workspace_tags t where t.workspace = w.id), '[]') as tags,
  ${PROJECT_TAGS} as "projectTags",
  array(select s.id from state_version_outputs s where s.state_version = w.current_state_version order by s.name) as outputs,
  array(select v.id from variables v where v.owner = w.id order by v.key, v.category) as variables,
  (select c.id from configuration_versions c where c.workspace = w.id and c.current_since is not null
    order by c.current_since desc, c.id desc limit 1) as "currentConfigurationVersion",
  (select c.current_run from workspace_runs c where c.workspace = w.id) as "currentRun",
  (select a.id from assessment_results a where a.workspace = w.id
    order by a.created_at desc, a.id desc limit 1) as "currentAssessmentResult",
  (select max(a.created_at) from assessment_results a where a.workspace = w.id) as "lastAssessmentAt",
  (select jsonb_build_object('runs', m.runs, 'failures', m.failures, 'policyFailures', m.policy_failures,
                             'planMs', m.plan_ms, 'applyMs', m.apply_ms)
     from workspace_metrics m where m.workspace = w.id) as metrics,
  w.ssh_key as "sshKey", ${selectOwnPolicy(sql.raw('w.id'))} as "dataRetentionPolicy",
  w.current_state_version as "currentStateVersion", w.resource_count as "resourceCount", w.created_at as "createdAt",
  w.updated_at as "updatedAt", w.latest_change_at as "latestChangeAt"`;

const FROM = sql.raw(
  `from workspaces w join organizations o on o.id = w.organization join projects p on p.id = w.project`,
);

const isTarget = (target: WorkspaceTarget): Sql =>
  'id' in target
    ? sql`w.id = ${target.id}`
    : sql`${hasOrganizationName('o', target.organization)} and ${hasWorkspaceName('w', target.name)}`;

/**
 * Selects the present access of the caller's teams to the workspace, also for a row of the past; empty for a signed
 * link, which replaces the permission check.
 */
const selectGrants = (actor: Identity | null, past: PointInTime | null = null): Sql => {
  if (!actor) return sql.raw(`'[]'::jsonb`);
  return past === null ? selectWorkspaceGrants(actor, 'w') : selectCurrentWorkspaceGrants(actor, sql.raw('w.id'));
};

/** `past`: the point in time of the views that precede the statement. */
export const selectWorkspaceColumns = (actor: Identity | null, past: PointInTime | null = null): Sql =>
  sql`${COLUMNS}, ${selectGrants(actor, past)} as grants`;

export const selectWorkspaceById = (id: string, actor: Identity | null): KeyedQuery => ({
  key: id,
  column: 'id',
  select: (ids) => sql`select ${selectWorkspaceColumns(actor)} ${FROM} where w.id = any (${ids}::text[])`,
});

/** A workspace without the access of one caller. */
export type SharedWorkspaceRow = Omit<WorkspaceRow, 'grants'> & { readonly grantsOfTeams: readonly GrantOfTeam[] };

/** Selects workspaces by their ids or their exact names, for all callers. */
export const selectSharedWorkspaces = ({ ids, names }: ResourceKeys): Sql => sql`
  select ${COLUMNS}, ${selectGrantsOfTeams('w')} as "grantsOfTeams" ${FROM}
   where w.id = any (${ids}::text[] || array(
           select named.id
             from rows from (unnest(${names.map(({ organization }) => organization)}::text[]),
                             unnest(${names.map(({ name }) => name)}::text[])) as wanted (organization, name)
             join organizations owner on owner.name = wanted.organization
             join workspaces named on named.organization = owner.id and named.name = wanted.name))`;

export const selectWorkspacesByIds = (ids: Sql, actor: Identity): Sql =>
  sql`select ${selectWorkspaceColumns(actor)} ${FROM} where w.id = any (${ids}) order by w.name, w.id`;

/**
 * Returns the workspace in one statement; throws not-found or forbidden if the caller lacks the permission. With `past`
 * it is found by its name at that time and read as it was then.
 */
export const findWorkspace = async (
  database: Database,
  actor: Actor,
  permission: Permission,
  target: WorkspaceTarget,
  past: PointInTime | null = null,
): Promise<WorkspaceRow> => {
  const statement = sql`
    ${buildViewsAt(past, target)}select ${selectWorkspaceColumns(actor, past)} ${FROM} where ${isTarget(target)} and ${requireCurrentAccess(actor)}`;
  const [row] =
    past === null
      ? await database.rows<WorkspaceRow>(statement)
      : await database.slowRows<WorkspaceRow>(actor, sql.unkept(statement));
  return requirePermittedRow(actor, permission, row);
};

/** References of a command to other resources; null if it has none. */
export type CommandReferences = {
  readonly project: string | null;
  readonly pool: string | null;
  readonly sshKey: string | null;
  /** Whether the command sets tags, or moves the workspace with its tags. */
  readonly tags: boolean;
  /** Ids of flat tags. */
  readonly tagIds: readonly string[];
  /** Whether the decision needs the named remote state consumers. */
  readonly consumers: boolean;
  /** Whether the command names a tool version. */
  readonly toolVersion: boolean;
  readonly vcsRepo: VcsRepoInput | null;
};

/** The facts for a decision besides the state of the stream. */
export type WorkspaceForCommand = PermissionScope & {
  /** The id or the name that the command uses. */
  readonly key: string;
  readonly organization: string;
  readonly project: string;
  readonly id: string;
  readonly name: string;
  readonly allowForceDelete: boolean;
  readonly organizationVersion: number;
  /** Version of the referenced project; null if there is none in the organization, or none is referenced. */
  readonly projectVersion: number | null;
  /** Version of the workspace's project before the command. */
  readonly homeVersion: number;
  /** Access of the caller's teams to the referenced project. */
  readonly projectGrants: readonly Grant[] | null;
  /** Whether the referenced project decides when the resources of the workspace are destroyed. */
  readonly inheritsDestroy: boolean;
  /** Version of the referenced agent pool; null if the workspace may not use it. */
  readonly poolVersion: number | null;
  /** The execution mode that a workspace without its own mode has in its project after the command. */
  readonly followedMode: ExecutionMode;
  /** Version of the referenced SSH key; null if there is none in the organization. */
  readonly sshKeyVersion: number | null;
  /** Keys that workspaces of the project after the command may not bind; empty if the command sets no tags. */
  readonly fixed: readonly FixedTagKey[];
  /** Names of the tags that the command references by id. */
  readonly tagNames: TagNames;
  /** Named remote state consumers; empty if the command does not need them. */
  readonly consumers: readonly string[];
  /** Empty if the command names no tool version. */
  readonly siteReleases: readonly SiteRelease[];
  /** From `selectConnectionUse`, for the referenced OAuth token, or else that of the present repository. */
  readonly isConnectionPermitted: boolean | null;
  readonly snapshot: LockSnapshot;
};

const CONFIGURED_CONSUMERS = sql.raw(
  'array(select c.consumer from remote_state_consumers c where c.workspace = w.id order by c.consumer)',
);

/** Whether the workspace `w` of the organization `o` has the id or the name that `key` selects. */
const isTargetOfCommand = (target: WorkspaceTarget, key: Sql): Sql =>
  'id' in target
    ? sql`w.id = ${key}`
    : sql`${hasOrganizationName('o', target.organization)} and ${hasWorkspaceName('w', key)}`;

export const loadWorkspaceForCommand = async (
  database: Database,
  actor: Actor | null,
  target: WorkspaceTarget,
  { project, pool, sshKey, tags, tagIds, consumers, toolVersion, vcsRepo }: CommandReferences,
): Promise<WorkspaceForCommand> => {
  const home = project ? sql`${project}` : sql.raw('w.project');
  const choice = { pool, organization: sql.raw('w.organization'), workspace: sql.raw('w.id'), project: home };
  const token = sql`coalesce(${vcsRepo?.oauthTokenId || null}, w.vcs_token)`;
  const select = (keys: readonly string[]): Sql => sql`
    select target.key, w.id, w.name, w.organization, w.project, (o.settings ->> 'allowForceDeleteWorkspaces')::boolean as "allowForceDelete",
           so.version as "organizationVersion", ${selectGrants(actor)} as grants,
           (select sp.version from projects p join event_store.streams sp on sp.stream = p.id
             where p.id = ${project} and p.organization = w.organization) as "projectVersion",
           (select sp.version from event_store.streams sp where sp.stream = w.project) as "homeVersion",
           ${actor && project ? selectProjectGrants(actor, home) : sql.raw('null::jsonb')} as "projectGrants",
           ${project ? inheritsDuration(home) : sql`false`} as "inheritsDestroy",
           ${selectUsablePoolVersion(choice)} as "poolVersion",
           coalesce((select ${INHERITED_MODE} from projects p
                      where p.id = ${home} and p.organization = w.organization),
                    o.settings ->> 'defaultExecutionMode') as "followedMode",
           ${selectSshKeyVersion(sshKey, sql.raw('w.organization'))} as "sshKeyVersion",
           ${tags ? selectFixedKeys(home) : sql.raw(`'[]'::jsonb`)} as fixed,
           ${actor ? selectTagNames(actor, tagIds, sql.raw('w.organization')) : sql.raw(`'{}'::jsonb`)} as "tagNames",
           ${consumers ? CONFIGURED_CONSUMERS : sql.raw(`'{}'::text[]`)} as consumers,
           ${toolVersion ? SELECT_SITE_RELEASES : sql.raw(`'[]'::jsonb`)} as "siteReleases",
           ${vcsRepo ? selectConnectionUse(token, sql.raw('w.organization'), home) : sql.raw('null::boolean')} as "isConnectionPermitted",
           ${buildLockSnapshotJson(actor)} as snapshot
      from unnest(${keys}::text[]) as target (key) cross join workspaces w join organizations o on o.id = w.organization
      join event_store.streams so on so.stream = w.organization
     where ${isTargetOfCommand(target, sql.raw('target.key'))} and ${actor ? requireCurrentAccess(actor) : sql`true`}`;
  const key = 'id' in target ? target.id : target.name;
  const row = await database.keyedRow<WorkspaceForCommand>({ key, column: 'key', select });
  if (!row) throw notFound();
  return row;
};

/** The organization of a new workspace; `project` is null if the organization lacks the referenced project. */
export type OrganizationForNewWorkspace = PermissionScope & {
  /** The name that the command uses. */
  readonly key: string;
  readonly organization: string;
  readonly organizationVersion: number;
  readonly project: string | null;
  readonly projectVersion: number | null;
  readonly poolVersion: number | null;
  readonly followedMode: ExecutionMode;
  readonly fixed: readonly FixedTagKey[];
  readonly tagNames: TagNames;
  readonly siteReleases: readonly SiteRelease[];
  /** From `selectConnectionUse`, for the referenced OAuth token. */
  readonly isConnectionPermitted: boolean | null;
};

export const loadOrganizationForNewWorkspace = async (
  database: Database,
  actor: Actor,
  organization: string,
  { project, pool, tags, tagIds, vcsRepo }: Pick<CommandReferences, 'project' | 'pool' | 'tags' | 'tagIds' | 'vcsRepo'>,
): Promise<OrganizationForNewWorkspace> => {
  // A new workspace is in no scope list of an agent pool yet.
  const choice = { pool, organization: sql.raw('o.id'), project: sql.raw('p.id') };
  const token = vcsRepo?.oauthTokenId;
  const select = (names: readonly string[]): Sql => sql`
    select target.key, o.id as organization, so.version as "organizationVersion", p.id as project, sp.version as "projectVersion",
           ${selectProjectGrants(actor, sql.raw('p.id'))} as grants,
           ${selectUsablePoolVersion(choice)} as "poolVersion", ${INHERITED_MODE} as "followedMode",
           ${tags ? selectFixedKeys(sql.raw('p.id')) : sql.raw(`'[]'::jsonb`)} as fixed,
           ${selectTagNames(actor, tagIds, sql.raw('o.id'))} as "tagNames", ${SELECT_SITE_RELEASES} as "siteReleases",
           ${token ? selectConnectionUse(sql`${token}`, sql.raw('o.id'), sql.raw('p.id')) : sql.raw('null::boolean')} as "isConnectionPermitted"
      from unnest(${names}::text[]) as target (key) join organizations o on ${hasOrganizationName('o', sql.raw('target.key'))}
      join event_store.streams so on so.stream = o.id
      left join projects p on p.organization = o.id and p.id = coalesce(${project}, o.default_project)
      left join event_store.streams sp on sp.stream = p.id
     where ${requireCurrentAccess(actor)}`;
  const row = await database.keyedRow<OrganizationForNewWorkspace>({ key: organization, column: 'key', select });
  return requirePermittedRow(actor, 'create-workspace', row);
};
