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
import { HAS_ENFORCED_POLICIES } from '#runs/policies';
import { SELECT_CONSULTED_TASKS } from '#runs/run-tasks';
import type { ConsultedTask } from '#runs/run-tasks/rules';
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
  readonly consultedTasks: readonly ConsultedTask[];
  readonly hasPolicies: boolean;
};

export const loadConfigurationForUpload = async (database: Database, id: string): Promise<ConfigurationForUpload> => {
  const row = await database.row<ConfigurationForUpload>(sql`
    select c.id, c.organization, so.version as "organizationVersion", c.workspace, sw.version as "workspaceVersion",
           ${buildSnapshotJson('s')} as snapshot, ${hasRuns(sql`c.id`)} as "hasRuns",
           c.auto_queue_runs as "autoQueueRuns", c.speculative, c.created_by as "createdBy", c.ingress, c.may_apply as "mayApply",
           ${EXECUTION_MODE} as "executionMode", (w.settings ->> 'autoApply')::boolean as "autoApply",
           w.settings ->> 'terraformVersion' as "terraformVersion", ${SELECT_SITE_RELEASES} as "siteReleases",
           ${SELECT_CONSULTED_TASKS} as "consultedTasks", ${HAS_ENFORCED_POLICIES} as "hasPolicies"
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
