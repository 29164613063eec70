import { notFound, sql, unprocessable, type Sql, type Timestamp } from '#kernel';
import {
  demand,
  fresh,
  grantsOnWorkspace,
  permittedPlaces,
  type Actor,
  type Grant,
  type Permission,
  type Person,
} from '#access';
import { snapshotAt, type Database, type Snapshot } from '#event-store';
import { limitOf, listedIn, type Listed, type Page } from '#json-api';
import type { Counts } from './state-file.js';
import { IS_NEEDED } from './backing-data.writes.js';

export type OutputRow = {
  readonly id: string;
  readonly name: string;
  readonly sensitive: boolean;
  readonly type: string;
  readonly detailedType: unknown;
};

export type StateVersionStatus =
  'pending' | 'finalized' | 'discarded' | 'backing_data_soft_deleted' | 'backing_data_permanently_deleted';

export type StateVersionRow = {
  readonly id: string;
  readonly workspace: string;
  readonly organization: string;
  readonly serial: number;
  readonly lineage: string | null;
  readonly md5: string;
  readonly status: StateVersionStatus;
  readonly intermediate: boolean;
  readonly createdBy: Person;
  readonly run: string | null;
  readonly rollbackOf: string | null;
  readonly size: number | null;
  readonly terraformVersion: string | null;
  readonly resources: number | null;
  readonly providers: Counts | null;
  readonly modules: Counts | null;
  readonly createdAt: Timestamp;
  readonly outputs: readonly OutputRow[];
  /** What the caller's teams have been given on its workspace. */
  readonly grants: readonly Grant[];
};

const COLUMNS = sql.raw(`v.id, v.workspace, v.organization, v.created_in as "createdIn", v.serial, v.lineage, v.md5,
  v.status, v.intermediate, v.created_by as "createdBy", v.run, v.rollback_of as "rollbackOf", v.size, v.terraform_version as "terraformVersion",
  v.resources, v.providers, v.modules, v.created_at as "createdAt",
  coalesce((select jsonb_agg(jsonb_build_object('id', s.id, 'name', s.name, 'sensitive', s.sensitive, 'type', s.type,
                                                'detailedType', s.detailed_type) order by s.name)
              from state_version_outputs s where s.state_version = v.id and v.status = 'finalized'), '[]') as outputs`);

/** What the caller's teams have been given on its workspace. */
const grants = (actor: Actor): Sql => grantsOnWorkspace(actor, 'w');

/** How a version is answered with, to whom a command about it was allowed. */
export const stateVersionById = (id: string, actor: Actor): Sql => sql`
  select ${COLUMNS}, ${grants(actor)} as grants
    from state_versions v join workspaces w on w.id = v.workspace where v.id = ${id}`;

export const stateVersionsByIds = (ids: Sql, actor: Actor): Sql => sql`
  select ${COLUMNS}, ${grants(actor)} as grants
    from state_versions v join workspaces w on w.id = v.workspace where v.id = any (${ids}) order by v.id`;

/** The state version, where the caller may do that with its workspace. */
export const stateVersionFor = async (
  database: Database,
  actor: Actor,
  permission: Permission,
  id: string,
): Promise<StateVersionRow> => {
  const row = await database.row<StateVersionRow>(sql`${stateVersionById(id, actor)} and ${fresh(actor)}`);
  if (!row) throw notFound();
  demand(actor, permission, row);
  return row;
};

type AtWorkspace = { readonly owner: string; readonly grants: readonly Grant[] };
/** The workspace's current state version; null where it has none. */
export const currentStateVersion = async (
  database: Database,
  actor: Actor,
  permission: Permission,
  workspace: string,
): Promise<StateVersionRow | null> => {
  const row = await database.row<AtWorkspace & (StateVersionRow | { readonly id: null })>(sql`
    select w.organization as owner, ${grants(actor)} as grants, version.*
      from workspaces w
      left join lateral (select ${COLUMNS} from state_versions v where v.id = w.current_state_version) version on true
     where w.id = ${workspace} and ${fresh(actor)}`);
  if (!row) throw notFound();
  demand(actor, permission, { organization: row.owner, grants: row.grants });
  return row.id === null ? null : row;
};

/** Returns the workspace's organization. Refuses callers that may not create state in this workspace. */
export const demandCreation = async (database: Database, actor: Actor, workspace: string): Promise<string> => {
  const row = await database.row<{ organization: string; grants: readonly Grant[] }>(sql`
    select w.organization, ${grants(actor)} as grants
      from workspaces w where w.id = ${workspace} and ${fresh(actor)}`);
  if (!row) throw notFound();
  demand(actor, 'create-state', row);
  return row.organization;
};

/** Refuses a run that is not one of the workspace. */
export const demandRun = async (database: Database, workspace: string, run: string): Promise<void> => {
  const found = await database.row(sql`select 1 as one from runs r where r.id = ${run} and r.workspace = ${workspace}`);
  if (!found) throw unprocessable('Run does not exist', '/data/relationships/run/data/id');
};

/** A workspace by its id, or by the names of its organization and itself. */
export type StateVersionFilter = {
  readonly of: { readonly id: string } | { readonly organization: string; readonly name: string };
  readonly status: string | undefined;
};

/** Newest first, discarded ones only where they are asked for; one page and the count of all, in one statement. */
export const listStateVersions = async (
  database: Database,
  actor: Actor,
  { of, status }: StateVersionFilter,
  page: Page,
): Promise<Listed<StateVersionRow> & { readonly workspace: string; readonly organization: string }> => {
  const wanted: Sql = status === undefined ? sql`v.status <> 'discarded'` : sql`v.status = ${status}`;
  const workspaces = sql`
    select w.id, w.organization, ${grants(actor)} as grants from workspaces w join organizations o on o.id = w.organization
     where ${'id' in of ? sql`w.id = ${of.id}` : sql`o.name = ${of.organization} and w.name = ${of.name}`}
       and ${fresh(actor)}`;
  const found = await database.slowRows<AtWorkspace & StateVersionRow & { home: string; total: number }>(
    actor,
    sql`
    select t.id as home, t.organization as owner, t.grants, page.*,
           (select count(*) from state_versions v where v.workspace = t.id and ${wanted}) as total
      from ${permittedPlaces(actor, 'read-state', workspaces)} t
      left join lateral (select ${COLUMNS} from state_versions v where v.workspace = t.id and ${wanted}
                          order by v.created_in desc ${limitOf(page)}) page on true
     order by page."createdIn" desc`,
  );
  const [first] = found;
  if (!first) throw notFound();
  demand(actor, 'read-state', { organization: first.owner, grants: first.grants });
  return { ...listedIn(found), workspace: first.home, organization: first.owner };
};

export type Repeatable = Pick<StateVersionRow, 'serial' | 'lineage' | 'md5'>;

/** What a decision on the files of a version needs to know besides their own stream. */
export type BackingDataForCommand = {
  readonly id: string;
  readonly organization: string;
  readonly grants: readonly Grant[];
  readonly workspace: string;
  readonly workspaceVersion: number;
  readonly isFinalized: boolean;
  readonly isNeeded: boolean;
  readonly snapshot: Snapshot | null;
};

export const backingDataForCommand = async (
  database: Database,
  actor: Actor,
  id: string,
): Promise<BackingDataForCommand> => {
  const row = await database.row<BackingDataForCommand>(sql`
    select v.id, v.organization, ${grants(actor)} as grants, v.workspace, sw.version as "workspaceVersion",
           v.finalized_at is not null as "isFinalized", ${IS_NEEDED} as "isNeeded",
           ${snapshotAt('v.id')} as snapshot
      from state_versions v join workspaces w on w.id = v.workspace
      join event_store.streams sw on sw.stream = v.workspace
     where v.id = ${id} and ${fresh(actor)}`);
  if (!row) throw notFound();
  demand(actor, 'delete-state-data', row);
  return row;
};

/** What is to be brought back: the version, and the serial that comes after all others. */
export type RollbackSource = {
  readonly organization: string;
  readonly lineage: string | null;
  readonly serial: number;
};

export const rollbackSource = async (
  database: Database,
  actor: Actor,
  workspace: string,
  id: string,
): Promise<RollbackSource> => {
  const row = await database.row<RollbackSource & { grants: readonly Grant[]; status: StateVersionStatus | null }>(sql`
    select w.organization, ${grants(actor)} as grants, v.status, v.lineage,
           (select newest.serial + 1 from state_versions newest
             where newest.workspace = w.id and newest.finalized_at is not null
             order by newest.created_in desc limit 1) as serial
      from workspaces w left join state_versions v on v.workspace = w.id and v.id = ${id}
     where w.id = ${workspace} and ${fresh(actor)}`);
  if (!row) throw notFound();
  demand(actor, 'create-state', row);
  const pointer = '/data/relationships/rollback-state-version/data/id';
  if (row.status === null) throw unprocessable('Rollback state version does not exist', pointer);
  if (row.status !== 'finalized') throw unprocessable('Rollback state version has no state', pointer);
  return row;
};

/** The version just made under this id, or else the one that its maker repeated. */
export const createdOrRepeated = (
  database: Database,
  actor: Actor,
  workspace: string,
  id: string,
  { serial, lineage, md5 }: Repeatable,
): Promise<StateVersionRow | undefined> =>
  database.row<StateVersionRow>(sql`
    select ${COLUMNS}, ${grants(actor)} as grants from state_versions v join workspaces w on w.id = v.workspace
     where v.workspace = ${workspace}
       and (v.id = ${id} or (v.status <> 'discarded' and v.serial = ${serial} and v.md5 = ${md5} and v.lineage is not distinct from ${lineage}::text))
     order by (v.id = ${id}) desc, v.created_in desc limit 1`);

export type UploadTarget = Pick<StateVersionRow, 'id' | 'workspace' | 'organization' | 'md5' | 'status'>;

/** For who holds a signed link: nobody is asked about. None where no file may come any more. */
export const uploadTarget = (database: Database, id: string): Promise<UploadTarget | undefined> =>
  database.row<UploadTarget>(sql`
    select v.id, v.workspace, v.organization, v.md5, v.status from state_versions v
     where v.id = ${id} and v.status in ('pending', 'finalized')`);

/** Null if it is gone. */
export const stateVersionStatus = async (database: Database, id: string): Promise<StateVersionStatus | null> => {
  const row = await database.row<{ status: StateVersionStatus }>(sql`
    select v.status from state_versions v where v.id = ${id}`);
  return row?.status ?? null;
};

/** Whether the version is not finalized and never will be: it is gone, discarded, or a newer one has taken its place. */
export const isHopeless = async (database: Database, id: string): Promise<boolean> => {
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

/** One output, where the caller may read outputs of its workspace. */
export const outputFor = async (database: Database, actor: Actor, id: string): Promise<OutputForShow> => {
  const row = await database.row<OutputForShow & { grants: readonly Grant[] }>(sql`
    select s.id, s.organization, s.workspace, s.state_version as "stateVersion", s.name, s.sensitive, s.type,
           s.detailed_type as "detailedType", ${grants(actor)} as grants
      from state_version_outputs s join workspaces w on w.id = s.workspace
      join state_versions v on v.id = s.state_version and v.status = 'finalized'
     where s.id = ${id} and ${fresh(actor)}`);
  if (!row) throw notFound();
  demand(actor, 'read-state-outputs', row);
  return row;
};
