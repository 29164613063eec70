import { notFound, sql, type ExecutionMode, type Principal, type Sql, type Timestamp } from '#platform/kernel';
import {
  requirePermittedRow,
  requireCurrentAccess,
  selectWorkspaceGrants,
  selectPermittedScopes,
  selectRangesOfLink,
  toPermittedPage,
  type Actor,
  type Grant,
  type Identity,
  type Permission,
  type PermissionScope,
} from '#api/access';
import { buildSnapshotJson, type StreamSnapshot, selectStreamVersions, type StreamVersion } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import { buildLimit, type ListPage, type ListRow, type PageRequest } from '#api/json-api';
import { EXECUTION_MODE, SELECT_SITE_RELEASES, type SiteRelease } from '#workspaces/workspaces';
import type { ConfigurationStatus, Ingress } from './configuration-version.js';
import { FINAL_STATUSES } from '../runs/run-status.js';

export type ConfigurationVersionRow = {
  readonly id: string;
  readonly organization: string;
  readonly workspace: string;
  readonly source: string;
  readonly autoQueueRuns: boolean;
  readonly speculative: boolean;
  readonly provisional: boolean;
  readonly status: ConfigurationStatus;
  readonly reached: Readonly<Record<string, Timestamp>>;
  readonly error: string | null;
  readonly errorMessage: string | null;
  /** The commit; null for an upload. */
  readonly ingress: Ingress | null;
  readonly createdAt: Timestamp;
  /** Access of the caller's teams to the workspace. */
  readonly grants: readonly Grant[];
};

const COLUMNS =
  sql.raw(`c.id, c.organization, c.workspace, c.source, c.auto_queue_runs as "autoQueueRuns", c.speculative,
  c.provisional, c.status, c.reached, c.error, c.error_message as "errorMessage", c.ingress, c.created_at as "createdAt"`);

const selectGrants = (actor: Identity): Sql => selectWorkspaceGrants(actor, 'w');

/**
 * Returns a condition: whether an unfinished run uses the version in the row `alias`. Runs of other workspaces may use
 * it too.
 */
export const isArchiveInUse = (alias: string): Sql => sql`exists (
  select 1 from runs r where r.configuration_version = ${sql.raw(alias)}.id
                         and r.status <> all (${FINAL_STATUSES}::text[]))`;

const IN_USE = isArchiveInUse('c');

/** Whether the version became current last. */
const IS_CURRENT = sql`c.current_since is not null and not exists (
  select 1 from configuration_versions later
   where later.workspace = c.workspace and (later.current_since, later.id) > (c.current_since, c.id))`;

/** Selects a version as the answer to a command that the caller was allowed to run. */
export const selectConfigurationVersionById = (id: string, actor: Actor): Sql => sql`
  select ${COLUMNS}, ${selectGrants(actor)} as grants
    from configuration_versions c join workspaces w on w.id = c.workspace where c.id = ${id}`;

export const selectConfigurationVersionsByIds = (ids: Sql, actor: Actor): Sql => sql`
  select ${COLUMNS}, ${selectGrants(actor)} as grants
    from configuration_versions c join workspaces w on w.id = c.workspace where c.id = any (${ids}) order by c.id`;

/** A version by its own id, or by the id of a run that uses it. */
export type ConfigurationVersionTarget = { readonly id: string } | { readonly run: string };

/** Returns the configuration version; throws not-found if the caller may not read it. */
export const findConfigurationVersion = async (
  database: Database,
  actor: Actor,
  target: ConfigurationVersionTarget,
): Promise<ConfigurationVersionRow> => {
  const which =
    'id' in target
      ? sql`c.id = ${target.id}`
      : sql`c.id = (select r.configuration_version from runs r where r.id = ${target.run})`;
  const row = await database.row<ConfigurationVersionRow>(sql`
    select ${COLUMNS}, ${selectGrants(actor)} as grants
      from configuration_versions c join workspaces w on w.id = c.workspace where ${which} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, 'read-configuration-version', row);
};

type WorkspaceOwnerColumns = { readonly owner: string; readonly ownerGrants: readonly Grant[]; readonly total: number };

/** Returns one page, newest first, and the total count, in one statement. */
export const listConfigurationVersions = async (
  database: Database,
  actor: Actor,
  workspace: string,
  page: PageRequest,
): Promise<ListPage<ConfigurationVersionRow>> => {
  const workspaces = sql`
    select w.id, w.organization, ${selectGrants(actor)} as grants from workspaces w where w.id = ${workspace} and ${requireCurrentAccess(actor)}`;
  const rows = await database.slowRows<ListRow<ConfigurationVersionRow, WorkspaceOwnerColumns>>(
    actor,
    sql`
    select target.organization as owner, target.grants as "ownerGrants", page.*,
           (select count(*) from configuration_versions c where c.workspace = target.id) as total
      from ${selectPermittedScopes(actor, 'read-configuration-version', workspaces)} target
      left join lateral (select ${COLUMNS}, target.grants from configuration_versions c where c.workspace = target.id
                          order by c.created_at desc, c.id desc ${buildLimit(page)}) page on true
     order by page."createdAt" desc, page.id desc`,
  );
  return toPermittedPage(actor, 'read-configuration-version', rows);
};

/** The workspace of a new configuration version. */
type WorkspaceForNewConfiguration = PermissionScope & {
  readonly organization: string;
  readonly preconditions: readonly StreamVersion[];
};

export const loadWorkspaceForNewConfiguration = async (
  database: Database,
  actor: Actor,
  workspace: string,
): Promise<WorkspaceForNewConfiguration> => {
  const row = await database.row<WorkspaceForNewConfiguration>(sql`
    select w.organization, ${selectStreamVersions(sql.raw('array[w.organization, w.id]'))} as preconditions,
           ${selectGrants(actor)} as grants
      from workspaces w where w.id = ${workspace} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, 'create-configuration-version', row);
};

/** The facts for a decision besides the state of the stream. */
export type ConfigurationForCommand = {
  readonly id: string;
  readonly organization: string;
  readonly isInUse: boolean;
  readonly isCurrent: boolean;
  readonly snapshot: StreamSnapshot;
};

export const loadConfigurationForCommand = async (
  database: Database,
  actor: Actor,
  permission: Permission,
  id: string,
): Promise<ConfigurationForCommand> => {
  const row = await database.row<ConfigurationForCommand & PermissionScope & { organization: string }>(sql`
    select c.id, c.organization, ${IN_USE} as "isInUse", ${IS_CURRENT} as "isCurrent", ${selectGrants(actor)} as grants,
           ${buildSnapshotJson('s')} as snapshot
      from configuration_versions c join workspaces w on w.id = c.workspace join event_store.streams s on s.stream = c.id
     where c.id = ${id} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, permission, row);
};

/** Returns a condition: whether an unfinished run uses the version. */
export const isConfigurationInUse = (id: string): Sql =>
  sql`exists (select 1 from configuration_versions c where c.id = ${id} and ${IN_USE})`;

/**
 * Returns a condition: whether any run uses the version. The archive of such a version never changes, even after the
 * run.
 */
export const hasRuns = (id: Sql): Sql => sql`exists (select 1 from runs r where r.configuration_version = ${id})`;

export type LinkedConfiguration = Pick<ConfigurationVersionRow, 'id' | 'organization' | 'workspace' | 'status'> & {
  /** Number of the archive; 0 if none is uploaded. */
  readonly archive: number;
  readonly hasRuns: boolean;
  /** For `requireAddressOfLink`. */
  readonly allowedRanges: readonly string[] | null;
};

/**
 * Reads a version for a signed link, without a permission check. The link was made for `recipient`, or without it, for
 * the creator of the version.
 */
export const findLinkedConfiguration = (
  database: Database,
  id: string,
  recipient?: { readonly type: string; readonly id: string },
): Promise<LinkedConfiguration | undefined> => {
  const holder = recipient
    ? { type: sql`${recipient.type}::text`, id: sql`${recipient.id}::text` }
    : { type: sql.raw(`(c.created_by ->> 'type')`), id: sql.raw(`(c.created_by ->> 'id')`) };
  return database.row<LinkedConfiguration>(sql`
    select c.id, c.organization, c.workspace, c.status, c.archive, ${hasRuns(sql`c.id`)} as "hasRuns",
           ${selectRangesOfLink(sql.raw('c.organization'), holder)} as "allowedRanges"
      from configuration_versions c where c.id = ${id}`);
};

/** The version and workspace that an upload changes, and the facts for the run that it may start. */
export type ConfigurationForUpload = {
  readonly id: string;
  readonly organization: string;
  readonly organizationVersion: number;
  readonly workspace: string;
  readonly workspaceVersion: number;
  readonly snapshot: StreamSnapshot;
  readonly hasRuns: boolean;
  readonly autoQueueRuns: boolean;
  readonly speculative: boolean;
  readonly createdBy: Principal;
  readonly ingress: Ingress | null;
  readonly mayApply: boolean;
  readonly executionMode: ExecutionMode;
  readonly autoApply: boolean;
  readonly terraformVersion: string;
  readonly siteReleases: readonly SiteRelease[];
};

export const loadConfigurationForUpload = async (database: Database, id: string): Promise<ConfigurationForUpload> => {
  const row = await database.row<ConfigurationForUpload>(sql`
    select c.id, c.organization, so.version as "organizationVersion", c.workspace, sw.version as "workspaceVersion",
           ${buildSnapshotJson('s')} as snapshot, ${hasRuns(sql`c.id`)} as "hasRuns",
           c.auto_queue_runs as "autoQueueRuns", c.speculative, c.created_by as "createdBy", c.ingress, c.may_apply as "mayApply",
           ${EXECUTION_MODE} as "executionMode", (w.settings ->> 'autoApply')::boolean as "autoApply",
           w.settings ->> 'terraformVersion' as "terraformVersion", ${SELECT_SITE_RELEASES} as "siteReleases"
      from configuration_versions c join workspaces w on w.id = c.workspace
      join projects p on p.id = w.project join organizations o on o.id = w.organization
      join event_store.streams s on s.stream = c.id join event_store.streams sw on sw.stream = w.id
      join event_store.streams so on so.stream = w.organization
     where c.id = ${id}`);
  if (!row) throw notFound();
  return row;
};

/** Loads the permissions of the person who created the version, as they are when its archive arrives. */
export const loadCreatorScope = async (
  database: Database,
  maker: Identity,
  { organization, workspace }: Pick<ConfigurationForUpload, 'organization' | 'workspace'>,
): Promise<PermissionScope> => {
  const row = await database.row<{ grants: readonly Grant[] }>(
    sql`select ${selectGrants(maker)} as grants from workspaces w where w.id = ${workspace}`,
  );
  return { organization, grants: row?.grants ?? [] };
};

/** Returns a condition: whether there is a configuration version with this id, or was one before its workspace was recovered. */
const hasConfigurationStream = (id: string): Sql =>
  sql`exists (select 1 from event_store.streams where stream = ${id})`;

/** The configuration version of a commit. Its members are null if it was deleted. */
export type UsedCommit = {
  readonly createdAt: Timestamp | null;
  /** Where the commit was when it was decided. */
  readonly branch: string | null;
  readonly tag: string | null;
};

/** Returns the configuration version with this id; null if there is none and was none. */
export const findUsedCommit = async (database: Database, id: string): Promise<UsedCommit | null> => {
  const row = await database.row<UsedCommit & { readonly exists: boolean }>(sql`
    select ${hasConfigurationStream(id)} as exists, c.created_at as "createdAt", c.ingress ->> 'branch' as branch,
           c.ingress ->> 'tag' as tag
      from (values (${id})) wanted (id)
      left join (configuration_versions c join workspaces w on w.id = c.workspace) on c.id = wanted.id`);
  return row?.exists ? { createdAt: row.createdAt, branch: row.branch, tag: row.tag } : null;
};

type WorkspaceForCommit = {
  readonly organization: string;
  readonly preconditions: readonly StreamVersion[];
  /** Whether the configuration version exists, or did before the workspace was recovered. */
  readonly exists: boolean;
};

export const loadWorkspaceForCommit = (
  database: Database,
  workspace: string,
  id: string,
): Promise<WorkspaceForCommit | undefined> =>
  database.row<WorkspaceForCommit>(sql`
    select w.organization, ${selectStreamVersions(sql.raw('array[w.organization, w.id]'))} as preconditions,
           ${hasConfigurationStream(id)} as exists
      from workspaces w where w.id = ${workspace}`);

/** A configuration version whose commit is not fetched yet. The members of its connection are null if it was deleted. */
export type UnfetchedCommit = {
  readonly id: string;
  readonly organization: string;
  readonly identifier: string;
  readonly sha: string;
  readonly token: string | null;
  readonly serviceProvider: string | null;
  readonly apiUrl: string | null;
  readonly createdAt: Timestamp;
};

/** Returns a condition: whether the connection `oc` has the token, and the workspace `w` may use it. */
export const isConnectionUsable = (token: Sql): Sql => sql`
  oc.token = ${token} and oc.organization = w.organization and (oc.organization_scoped or oc.projects ? w.project)`;

export const listUnfetchedConfigurations = (
  database: Database,
  most: number,
  paused: readonly string[],
): Promise<readonly UnfetchedCommit[]> =>
  database.rows<UnfetchedCommit>(sql`
    select id, organization, identifier, sha, token, "serviceProvider", "apiUrl", "createdAt"
      from (
        select *, row_number() over (partition by organization order by turn, "createdAt", id) as turn_of_organization from (
        select c.id, w.organization, c.ingress ->> 'identifier' as identifier, c.ingress ->> 'commitSha' as sha, oc.token,
               oc.service_provider as "serviceProvider", oc.api_url as "apiUrl", c.created_at as "createdAt",
               row_number() over (partition by w.organization, oc.token order by c.created_at, c.id) as turn
          from configuration_versions c join workspaces w on w.id = c.workspace
          left join oauth_clients oc on ${isConnectionUsable(sql`c.ingress ->> 'oauthToken'`)}
         where c.status = 'pending' and c.ingress is not null
           and not (array[c.id, oc.token, concat_ws(' ', oc.token, c.ingress ->> 'identifier', c.ingress ->> 'commitSha')]
                    && ${paused}::text[])) commits) turns
     order by turn_of_organization, "createdAt", id limit ${most}`);

/** What is not finished of a pull request in a workspace. */
type OpenOfPullRequest = { readonly configurations: readonly string[]; readonly runs: readonly string[] };

/** `keptId`: id of the configuration version that is left out; null for none. */
export const listOpenOfPullRequest = async (
  database: Database,
  workspace: string,
  number: number,
  keptId: string | null,
): Promise<OpenOfPullRequest> => {
  const row = await database.row<OpenOfPullRequest>(sql`
    with versions as (
      select c.id, c.status from configuration_versions c join workspaces w on w.id = c.workspace
       where c.workspace = ${workspace} and (c.ingress #>> '{pullRequest,number}')::bigint = ${number}
         and c.id is distinct from ${keptId}::text)
    select array(select id from versions where status = 'pending' order by id) as configurations,
           array(select r.id from runs r join versions v on v.id = r.configuration_version
                  where r.status <> all (${FINAL_STATUSES}::text[]) order by r.id) as runs`);
  return row ?? { configurations: [], runs: [] };
};
