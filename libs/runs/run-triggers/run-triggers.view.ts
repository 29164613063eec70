import {
  notFound,
  sql,
  whenWorkspaceEnds,
  type OrganizationDeleted,
  type Projection,
  type Sql,
  type Timestamp,
  type WorkspaceEnd,
} from '#platform/kernel';
import { buildSnapshotJson, selectStreamVersions, type StreamSnapshot, type StreamVersion } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import type { OrganizationEvent } from '#organizations/organizations';
import {
  can,
  isPermittedBy,
  listInOrganization,
  requireCurrentAccess,
  requirePermission,
  selectPermittedScopes,
  selectWorkspaceGrants,
  toPermittedPage,
  type Actor,
  type Grant,
  type PermissionScope,
} from '#api/access';
import { buildLimit, type ListPage, type ListRow, type PageRequest } from '#api/json-api';
import { MAX_SOURCES, MAX_TARGETS, type RunTriggerEvent, type TriggerFacts } from './run-trigger.js';
import { findTriggerPath, type TriggerEdge } from './trigger-path.js';

type ImportOfOrganization = Extract<OrganizationEvent, { type: 'OrganizationImported' }>;

/**
 * Triggers stay while one of their workspaces is deleted and can be recovered. Until then no statement shows them, because all of
 * them join both workspaces.
 */
export const runTriggers: Projection<RunTriggerEvent | WorkspaceEnd | ImportOfOrganization | OrganizationDeleted> = {
  name: 'run_triggers',
  version: 1,
  tables: ['run_triggers'],
  on: {
    RunTriggerCreated: ({ workspace, sourceable }, { stream, organization, time }) => sql`
      insert into run_triggers (id, organization, workspace, source, created_at, fires_from)
      values (${stream}, ${organization}, ${workspace}, ${sourceable}, ${time}, ${time})`,
    RunTriggerDeleted: (_, { stream }) => sql`delete from run_triggers where id = ${stream}`,
    ...whenWorkspaceEnds(
      (workspace) => sql`delete from run_triggers where workspace = ${workspace} or source = ${workspace}`,
    ),
    // The applies of an imported organization are in the log again. They started runs where they happened.
    OrganizationImported: (_, { stream, time }) =>
      sql`update run_triggers set fires_from = ${time} where organization = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from run_triggers where organization = ${stream}`,
  },
};

export type RunTriggerRow = {
  readonly id: string;
  readonly organization: string;
  readonly workspace: string;
  readonly source: string;
  readonly workspaceName: string;
  readonly sourceName: string;
  readonly createdAt: Timestamp;
  /** Access of the caller's teams to the workspace, and to the source. */
  readonly grants: readonly Grant[];
  readonly sourceGrants: readonly Grant[];
};

const selectColumns = (actor: Actor): Sql => sql`
  t.id, t.organization, t.workspace, t.source, w.name as "workspaceName", s.name as "sourceName",
  t.created_at as "createdAt", ${selectWorkspaceGrants(actor, 'w')} as grants,
  ${selectWorkspaceGrants(actor, 's')} as "sourceGrants"`;

const FROM = sql.raw(
  'from run_triggers t join workspaces w on w.id = t.workspace join workspaces s on s.id = t.source',
);

export const selectRunTriggerById = (id: string, actor: Actor): Sql =>
  sql`select ${selectColumns(actor)} ${FROM} where t.id = ${id}`;

export const canReadSource = (actor: Actor, { organization, sourceGrants }: RunTriggerRow): boolean =>
  can(actor, 'read-runs', { organization, grants: sourceGrants });

/** Throws not-found for callers that may read the runs of neither workspace. */
const requireReadable = <Row extends RunTriggerRow>(actor: Actor, row: Row | undefined): Row => {
  if (!row) throw notFound();
  if (!canReadSource(actor, row)) requirePermission(actor, 'read-runs', row);
  return row;
};

export const findRunTrigger = async (database: Database, actor: Actor, id: string): Promise<RunTriggerRow> => {
  const row = await database.row<RunTriggerRow>(
    sql`${selectRunTriggerById(id, actor)} and ${requireCurrentAccess(actor)}`,
  );
  return requireReadable(actor, row);
};

type RunTriggerForCommand = RunTriggerRow & {
  readonly snapshot: StreamSnapshot;
  readonly preconditions: readonly StreamVersion[];
};

export const findRunTriggerForCommand = async (
  database: Database,
  actor: Actor,
  id: string,
): Promise<RunTriggerForCommand> => {
  const row = await database.row<RunTriggerForCommand>(sql`
    select ${selectColumns(actor)}, ${buildSnapshotJson('its')} as snapshot,
           ${selectStreamVersions(sql.raw('array[t.organization]'))} as preconditions
      ${FROM} join event_store.streams its on its.stream = t.id where t.id = ${id} and ${requireCurrentAccess(actor)}`);
  return requireReadable(actor, row);
};

/** `inbound`: triggers that start runs in the workspace. `outbound`: triggers of which it is the source. */
export const TRIGGER_TYPES = ['inbound', 'outbound'] as const;
export type TriggerType = (typeof TRIGGER_TYPES)[number];

const isReadable = (actor: Actor, alias: string): Sql =>
  isPermittedBy(actor, 'read-runs', {
    organization: sql.raw('t.organization'),
    grants: selectWorkspaceGrants(actor, alias),
  });

/** Returns the triggers of a workspace whose other workspace the caller may read: one page and their count in one statement. */
export const listRunTriggers = async (
  database: Database,
  actor: Actor,
  { workspace, type }: { readonly workspace: string; readonly type: TriggerType },
  page: PageRequest,
): Promise<ListPage<RunTriggerRow>> => {
  const [own, other] = type === 'inbound' ? ['workspace', 's'] : ['source', 'w'];
  const scopes = sql`
    select w.id, w.organization, ${selectWorkspaceGrants(actor, 'w')} as grants from workspaces w
     where w.id = ${workspace} and ${requireCurrentAccess(actor)}`;
  const listed = sql`${FROM} where t.${sql.raw(own)} = target.id and ${isReadable(actor, other)}`;
  type OwnerColumns = { readonly owner: string; readonly ownerGrants: readonly Grant[]; readonly total: number };
  const rows = await database.slowRows<ListRow<RunTriggerRow, OwnerColumns>>(
    actor,
    sql`
    select target.organization as owner, target.grants as "ownerGrants", (select count(*) ${listed}) as total, page.*
      from ${selectPermittedScopes(actor, 'read-runs', scopes)} target
      left join lateral (select ${selectColumns(actor)} ${listed}
                          order by t.created_at, t.id ${buildLimit(page)}) page on true
     order by page."createdAt", page.id`,
  );
  return toPermittedPage(actor, 'read-runs', rows);
};

/** Returns the triggers of an organization both of whose workspaces the caller may read. */
export const listOrganizationRunTriggers = (
  database: Database,
  actor: Actor,
  organization: string,
  page: PageRequest,
): Promise<ListPage<RunTriggerRow>> =>
  listInOrganization<RunTriggerRow>(
    database,
    actor,
    {
      organization,
      permission: 'read-organization',
      columns: selectColumns(actor),
      from: FROM,
      where: sql`t.organization = owner.id and ${isReadable(actor, 'w')} and ${isReadable(actor, 's')}`,
      order: sql.raw('"createdAt", id'),
    },
    page,
  );

/** The workspace and the source of a new trigger. */
type NewTrigger = { readonly workspace: string; readonly source: string };

/** Selects what follows from the workspace along the triggers, itself included. */
const selectFollowing = (workspace: string): Sql => sql`
  with recursive following (id) as (
    select ${workspace}::text
     union
    select t.workspace from following f join run_triggers t on t.source = f.id)`;

/** Whether the rules refuse the trigger, by the rows at the time of the statement. */
export const hasOutdatedFacts = ({ workspace, source }: NewTrigger): Sql => sql`
  (${selectFollowing(workspace)} select exists (select 1 from following where id = ${source})
     or (select count(*) from run_triggers t where t.workspace = ${workspace}) >= ${MAX_SOURCES}
     or (select count(*) from run_triggers t where t.source = ${source}) >= ${MAX_TARGETS}
     or exists (select 1 from run_triggers t where t.workspace = ${workspace} and t.source = ${source}))`;

type WorkspaceForNewTrigger = PermissionScope & {
  readonly organization: string;
  readonly preconditions: readonly StreamVersion[];
  readonly exists: boolean;
  readonly sources: number;
  readonly targets: number;
  /** Null if there is no such workspace in the organization. */
  readonly sourceGrants: readonly Grant[] | null;
  /** The triggers that lead from the workspace to the source; null if none do. */
  readonly edges: readonly TriggerEdge[] | null;
};

const selectForNewTrigger = ({ workspace, source }: NewTrigger, actor: Actor): Sql => sql`
  ${selectFollowing(workspace)}
  select w.organization, ${selectStreamVersions(sql`array[w.organization, w.id, ${source}::text]`)} as preconditions,
         ${selectWorkspaceGrants(actor, 'w')} as grants,
         exists (select 1 from run_triggers t where t.workspace = w.id and t.source = ${source}) as exists,
         (select count(*) from run_triggers t where t.workspace = w.id) as sources,
         (select count(*) from run_triggers t where t.source = ${source}) as targets,
         (select ${selectWorkspaceGrants(actor, 's')} from workspaces s
           where s.id = ${source} and s.organization = w.organization) as "sourceGrants",
         case when exists (select 1 from following where id = ${source}) then (
           select jsonb_agg(jsonb_build_object('source', t.source, 'workspace', t.workspace) order by t.created_at, t.id)
             from run_triggers t where t.source in (select id from following) and t.workspace in (select id from following))
         end as edges
    from workspaces w where w.id = ${workspace} and ${requireCurrentAccess(actor)}`;

/** Returns the names of the workspaces on a path. Those that the caller may not read have none. */
const namePath = async (database: Database, actor: Actor, path: readonly string[]): Promise<readonly string[]> => {
  const rows = await database.rows<{ id: string; name: string; organization: string; grants: readonly Grant[] }>(sql`
    select w.id, w.name, w.organization, ${selectWorkspaceGrants(actor, 'w')} as grants
      from workspaces w where w.id = any (${path}::text[])`);
  const names = new Map(rows.filter((row) => can(actor, 'read-runs', row)).map(({ id, name }) => [id, name]));
  return path.map((id) => names.get(id) ?? 'a workspace that you cannot read');
};

/** Returns the organization and the facts for a new trigger. Throws not-found if the caller may not create it. */
export const loadNewRunTrigger = async (
  database: Database,
  actor: Actor,
  ends: NewTrigger,
): Promise<WorkspaceForNewTrigger & { readonly facts: TriggerFacts }> => {
  const row = await database.row<WorkspaceForNewTrigger>(selectForNewTrigger(ends, actor));
  if (!row) throw notFound();
  requirePermission(actor, 'read-runs', row);
  requirePermission(actor, 'update-workspace', row);
  if (row.sourceGrants === null) throw notFound();
  requirePermission(actor, 'read-runs', { organization: row.organization, grants: row.sourceGrants });
  const path = row.edges && findTriggerPath(row.edges, ends.workspace, ends.source);
  const { exists, sources, targets } = row;
  return { ...row, facts: { exists, sources, targets, path: path && (await namePath(database, actor, path)) } };
};
