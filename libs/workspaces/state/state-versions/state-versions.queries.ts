import { forbidden, notFound, sql, unprocessable, type Sql, type Timestamp } from '#platform/kernel';
import {
  can,
  findCurrentIdentity,
  requirePermission,
  requirePermittedRow,
  requireCurrentAccess,
  selectWorkspaceGrants,
  selectPermittedScopes,
  selectRangesOfLink,
  type Actor,
  type Grant,
  type Permission,
  type ActingPrincipal,
  hasOrganizationName,
  hasWorkspaceName,
} from '#api/access';
import { selectSnapshotJson, type StreamSnapshot } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import { buildLimit, toListPage, type ListPage, type ListRow, type PageRequest } from '#api/json-api';
import type { ResourceCounts } from '../state-file/state-file.js';
import { IS_STATE_NEEDED } from '../backing-data/backing-data.writes.js';

export type OutputRow = {
  readonly id: string;
  readonly name: string;
  readonly sensitive: boolean;
  readonly type: string;
  readonly detailedType: unknown;
};

export const STATE_VERSION_STATUSES = [
  'pending',
  'finalized',
  'discarded',
  'errored',
  'backing_data_soft_deleted',
  'backing_data_permanently_deleted',
] as const;
export type StateVersionStatus = (typeof STATE_VERSION_STATUSES)[number];

export type StateVersionRow = {
  readonly id: string;
  readonly workspace: string;
  readonly organization: string;
  readonly serial: number;
  readonly lineage: string | null;
  readonly md5: string;
  readonly status: StateVersionStatus;
  readonly intermediate: boolean;
  readonly createdBy: ActingPrincipal;
  readonly run: string | null;
  readonly rollbackOf: string | null;
  readonly size: number | null;
  /** Version of the format of the state file; null until the file is uploaded. */
  readonly format: number | null;
  readonly terraformVersion: string | null;
  readonly resources: number | null;
  readonly providers: ResourceCounts | null;
  readonly modules: ResourceCounts | null;
  readonly createdAt: Timestamp;
  /** The transaction that created it, to sort by. */
  readonly createdIn: number;
  readonly outputs: readonly OutputRow[];
  readonly grants: readonly Grant[];
};

const COLUMNS = sql.raw(`v.id, v.workspace, v.organization, v.created_in as "createdIn", v.serial, v.lineage, v.md5,
  v.status, v.intermediate, v.created_by as "createdBy", v.run, v.rollback_of as "rollbackOf", v.size, v.format, v.terraform_version as "terraformVersion",
  v.resources, v.providers, v.modules, v.created_at as "createdAt",
  coalesce((select jsonb_agg(jsonb_build_object('id', s.id, 'name', s.name, 'sensitive', s.sensitive, 'type', s.type,
                                                'detailedType', s.detailed_type) order by s.name)
              from state_version_outputs s where s.state_version = v.id and v.status = 'finalized'), '[]') as outputs`);

const selectGrants = (actor: Actor): Sql => selectWorkspaceGrants(actor, 'w');

/** Selects a version for the response to a command that was permitted. */
export const selectStateVersionById = (id: string, actor: Actor): Sql => sql`
  select ${COLUMNS}, ${selectGrants(actor)} as grants
    from state_versions v join workspaces w on w.id = v.workspace where v.id = ${id}`;

export const selectStateVersionsByIds = (ids: Sql, actor: Actor): Sql => sql`
  select ${COLUMNS}, ${selectGrants(actor)} as grants
    from state_versions v join workspaces w on w.id = v.workspace where v.id = any (${ids}) order by v.id`;

/** Returns the state version. Throws a refusal if the caller lacks the permission on its workspace. */
export const findStateVersion = async (
  database: Database,
  actor: Actor,
  permission: Permission,
  id: string,
): Promise<StateVersionRow> => {
  const row = await database.row<StateVersionRow>(
    sql`${selectStateVersionById(id, actor)} and ${requireCurrentAccess(actor)}`,
  );
  return requirePermittedRow(actor, permission, row);
};

type WorkspaceGrants = { readonly owner: string; readonly grants: readonly Grant[] };
/** Returns the current state version of the workspace; null if it has none. */
export const findCurrentStateVersion = async (
  database: Database,
  actor: Actor,
  permission: Permission,
  workspace: string,
): Promise<StateVersionRow | null> => {
  const row = await database.row<WorkspaceGrants & (StateVersionRow | { readonly id: null })>(sql`
    select w.organization as owner, ${selectGrants(actor)} as grants, version.*
      from workspaces w
      left join lateral (select ${COLUMNS} from state_versions v where v.id = w.current_state_version) version on true
     where w.id = ${workspace} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requirePermission(actor, permission, { organization: row.owner, grants: row.grants });
  return row.id === null ? null : row;
};

/** Returns the organization of the workspace. Throws a refusal if the caller cannot create state in it. */
export const requireStateCreation = async (database: Database, actor: Actor, workspace: string): Promise<string> => {
  const row = await database.row<{ organization: string; grants: readonly Grant[] }>(sql`
    select w.organization, ${selectGrants(actor)} as grants
      from workspaces w where w.id = ${workspace} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requirePermission(actor, 'create-state', row);
  return row.organization;
};

export const requireRunOfWorkspace = async (database: Database, workspace: string, run: string): Promise<void> => {
  const row = await database.row(sql`select 1 as one from runs r where r.id = ${run} and r.workspace = ${workspace}`);
  if (!row) throw unprocessable('Run does not exist', '/data/relationships/run/data/id');
};

/** A workspace by id, or by the names of its organization and itself. */
export type StateVersionFilter = {
  readonly of: { readonly id: string } | { readonly organization: string; readonly name: string };
  readonly status: string | undefined;
};

/**
 * Returns one page, newest first, and the total count, in one statement. Omits discarded versions unless the filter
 * names that status.
 */
export const listStateVersions = async (
  database: Database,
  actor: Actor,
  { of, status }: StateVersionFilter,
  page: PageRequest,
): Promise<ListPage<StateVersionRow> & { readonly workspace: string; readonly organization: string }> => {
  const hasStatus: Sql = status === undefined ? sql`v.status <> 'discarded'` : sql`v.status = ${status}`;
  const workspaces = sql`
    select w.id, w.organization, ${selectGrants(actor)} as grants from workspaces w join organizations o on o.id = w.organization
     where ${'id' in of ? sql`w.id = ${of.id}` : sql`${hasOrganizationName('o', of.organization)} and ${hasWorkspaceName('w', of.name)}`}
       and ${requireCurrentAccess(actor)}`;
  const rows = await database.slowRows<ListRow<StateVersionRow, WorkspaceGrants & { home: string; total: number }>>(
    actor,
    sql`
    select t.id as home, t.organization as owner, t.grants, page.*,
           (select count(*) from state_versions v where v.workspace = t.id and ${hasStatus}) as total
      from ${selectPermittedScopes(actor, 'read-state', workspaces)} t
      left join lateral (select ${COLUMNS} from state_versions v where v.workspace = t.id and ${hasStatus}
                          order by v.created_in desc ${buildLimit(page)}) page on true
     order by page."createdIn" desc`,
  );
  const [first] = rows;
  if (!first) throw notFound();
  requirePermission(actor, 'read-state', { organization: first.owner, grants: first.grants });
  return { ...toListPage(rows), workspace: first.home, organization: first.owner };
};

type StateContentKey = Pick<StateVersionRow, 'serial' | 'lineage' | 'md5'>;

/** The state that a decision about the files of a version needs besides the stream of the version. */
export type BackingDataForCommand = {
  readonly id: string;
  readonly organization: string;
  readonly grants: readonly Grant[];
  readonly workspace: string;
  readonly workspaceVersion: number;
  readonly isFinalized: boolean;
  readonly isNeeded: boolean;
  readonly snapshot: StreamSnapshot | null;
};

export const loadBackingDataForCommand = async (
  database: Database,
  actor: Actor,
  id: string,
): Promise<BackingDataForCommand> => {
  const row = await database.row<BackingDataForCommand>(sql`
    select v.id, v.organization, ${selectGrants(actor)} as grants, v.workspace, sw.version as "workspaceVersion",
           v.finalized_at is not null as "isFinalized", ${IS_STATE_NEEDED} as "isNeeded",
           ${selectSnapshotJson('v.id')} as snapshot
      from state_versions v join workspaces w on w.id = v.workspace
      join event_store.streams sw on sw.stream = v.workspace
     where v.id = ${id} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, 'delete-state-data', row);
};

/** The version to roll back to, and the serial after all others. */
type RollbackSource = {
  readonly organization: string;
  readonly lineage: string | null;
  readonly serial: number;
};

export const loadRollbackSource = async (
  database: Database,
  actor: Actor,
  workspace: string,
  id: string,
): Promise<RollbackSource> => {
  type Row = Omit<RollbackSource, 'serial'> & {
    readonly grants: readonly Grant[];
    readonly status: StateVersionStatus | null;
    /** Null while the workspace has no finalized version. */
    readonly serial: number | null;
  };
  const row = await database.row<Row>(sql`
    select w.organization, ${selectGrants(actor)} as grants, v.status, v.lineage,
           (select newest.serial + 1 from state_versions newest
             where newest.workspace = w.id and newest.finalized_at is not null
             order by newest.created_in desc limit 1) as serial
      from workspaces w left join state_versions v on v.workspace = w.id and v.id = ${id}
     where w.id = ${workspace} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requirePermission(actor, 'create-state', row);
  const pointer = '/data/relationships/rollback-state-version/data/id';
  if (row.status === null) throw unprocessable('Rollback state version does not exist', pointer);
  const { organization, lineage, serial } = row;
  if (row.status !== 'finalized' || serial === null)
    throw unprocessable('Rollback state version has no state', pointer);
  return { organization, lineage, serial };
};

/** Returns the version with this id, or an existing one with the same content if the request was a repetition. */
export const findCreatedOrRepeated = (
  database: Database,
  actor: Actor,
  workspace: string,
  id: string,
  { serial, lineage, md5 }: StateContentKey,
): Promise<StateVersionRow | undefined> =>
  database.row<StateVersionRow>(sql`
    select ${COLUMNS}, ${selectGrants(actor)} as grants from state_versions v join workspaces w on w.id = v.workspace
     where v.workspace = ${workspace}
       and (v.id = ${id} or (v.status not in ('discarded', 'errored') and v.serial = ${serial} and v.md5 = ${md5} and v.lineage is not distinct from ${lineage}::text))
     order by (v.id = ${id}) desc, v.created_in desc limit 1`);

const CREATOR = { type: sql.raw(`(v.created_by ->> 'type')`), id: sql.raw(`(v.created_by ->> 'id')`) };

export type StateUploadTarget = Pick<
  StateVersionRow,
  'id' | 'workspace' | 'organization' | 'serial' | 'lineage' | 'md5' | 'status' | 'createdBy'
> & {
  /** For `requireAddressOfLink`. */
  readonly allowedRanges: readonly string[] | null;
};

/**
 * Returns the version for an upload with a signed link, without checking permissions; undefined if no upload is
 * possible any more.
 */
export const findStateUploadTarget = (database: Database, id: string): Promise<StateUploadTarget | undefined> =>
  database.row<StateUploadTarget>(sql`
    select v.id, v.workspace, v.organization, v.serial, v.lineage, v.md5, v.status, v.created_by as "createdBy",
           ${selectRangesOfLink(sql.raw('v.organization'), CREATOR)} as "allowedRanges"
      from state_versions v join workspaces w on w.id = v.workspace
     where v.id = ${id} and v.status in ('pending', 'finalized')`);

/**
 * Throws `forbidden` if the creator of the version may no longer create state in its workspace. A signed link is valid for
 * a day, so the creator may have lost access since. Runs need no check: when a run loses the lock, its version is discarded.
 */
export const requireCreatorAccess = async (
  database: Database,
  { createdBy, organization, workspace }: Pick<StateVersionRow, 'createdBy' | 'organization' | 'workspace'>,
): Promise<void> => {
  if (createdBy.type === 'runs') return;
  const creator = await findCurrentIdentity(database, createdBy);
  const row = await database.row<{ grants: readonly Grant[] }>(sql`
    select ${selectWorkspaceGrants(creator, 'w')} as grants from workspaces w where w.id = ${workspace}`);
  if (!row || !can(creator, 'create-state', { organization, grants: row.grants })) {
    throw forbidden('The creator of this state version may not create state in the workspace any more');
  }
};

export const findStateVersionStatus = async (database: Database, id: string): Promise<StateVersionStatus | null> => {
  const row = await database.row<{ status: StateVersionStatus }>(sql`
    select v.status from state_versions v join workspaces w on w.id = v.workspace where v.id = ${id}`);
  return row?.status ?? null;
};

/**
 * Returns whether the version is not finalized and never will be: it is deleted, discarded, or replaced by a newer one.
 */
export const isNeverFinalizable = async (database: Database, id: string): Promise<boolean> => {
  const hopeful = await database.row(sql`
    select 1 as one from state_versions v
     where v.id = ${id}
       and (v.finalized_at is not null
            or v.status = 'pending' and not exists (select 1 from state_versions newer
                                                     where newer.workspace = v.workspace
                                                       and newer.created_in > v.created_in))`);
  return hopeful === undefined;
};

type OutputForShow = OutputRow & {
  readonly organization: string;
  readonly workspace: string;
  readonly stateVersion: string;
};

export const findOutput = async (database: Database, actor: Actor, id: string): Promise<OutputForShow> => {
  const row = await database.row<OutputForShow & { grants: readonly Grant[] }>(sql`
    select s.id, s.organization, s.workspace, s.state_version as "stateVersion", s.name, s.sensitive, s.type,
           s.detailed_type as "detailedType", ${selectGrants(actor)} as grants
      from state_version_outputs s join workspaces w on w.id = s.workspace
      join state_versions v on v.id = s.state_version and v.status = 'finalized'
     where s.id = ${id} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, 'read-state-outputs', row);
};

type AbandonedStateVersion = { readonly id: string; readonly workspace: string };

/** Returns the oldest versions that were created before `before` and still wait for their state. */
export const listAbandonedStateVersions = (
  database: Database,
  before: Date,
  limit: number,
): Promise<readonly AbandonedStateVersion[]> =>
  database.rows<AbandonedStateVersion>(sql`
    select v.id, v.workspace from state_versions v join workspaces w on w.id = v.workspace
     where v.status = 'pending' and v.created_at < ${before.toISOString()} order by v.created_at limit ${limit}`);
