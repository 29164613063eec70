import {
  sql,
  type Projection,
  type OrganizationDeleted,
  type WorkspaceEnd,
  whenWorkspaceEnds,
  notFound,
  type Sql,
} from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { buildSnapshotJson, type StreamSnapshot } from '#storage/event-store';
import {
  requireCurrentAccess,
  selectGrantedWorkspaces,
  selectWorkspaceGrants,
  isGrantedWorkspace,
  isPermittedByRole,
  selectPermittedScopes,
  toPermittedPage,
  type Actor,
  type Grant,
  type PermissionScope,
} from '#api/access';
import { buildLimit, type ListPage, type ListRow, type PageRequest } from '#api/json-api';
import { selectWorkspaceColumns, type WorkspaceRow } from '../workspaces/workspaces.queries.js';
import type { ConsumerEvent } from './remote-state-consumers.js';

type ConsumerEndEvent = OrganizationDeleted | WorkspaceEnd;

export const remoteStateConsumers: Projection<ConsumerEvent | ConsumerEndEvent> = {
  name: 'remote_state_consumers',
  version: 1,
  tables: ['remote_state_consumers'],
  on: {
    RemoteStateConsumersAdded: ({ workspaces }, { stream, organization }) => sql`
      insert into remote_state_consumers (workspace, consumer, organization)
      select ${stream}, consumer, ${organization} from unnest(${workspaces}::text[]) as added (consumer)`,
    RemoteStateConsumersRemoved: ({ workspaces }, { stream }) => sql`
      delete from remote_state_consumers where workspace = ${stream} and consumer = any (${workspaces}::text[])`,
    ...whenWorkspaceEnds(
      (workspace) => sql`delete from remote_state_consumers where workspace = ${workspace} or consumer = ${workspace}`,
    ),
    OrganizationDeleted: (_, { stream }) => sql`delete from remote_state_consumers where organization = ${stream}`,
  },
};

/** With `project-remote-state` the workspaces of the project, otherwise the named ones. */
const SELECT_CONFIGURED_CONSUMERS = sql.raw(`
  select c.consumer from remote_state_consumers c where c.workspace = target.id and not target."isProject"
   union all
  select near.id from workspaces near where target."isProject" and near.project = target.project`);

/** The extents of the list that the caller may see; all but one are empty. In SQL: `w`, and `target`. */
const buildExtents = (actor: Actor) => ({
  all: sql`target."isGlobal" and target.whole and w.organization = target.organization and w.id <> target.id`,
  granted: sql`target."isGlobal" and not target.whole and w.organization = target.organization and w.id <> target.id
               and w.id in (${selectGrantedWorkspaces(actor)})`,
  configured: sql`not target."isGlobal" and w.id in (${SELECT_CONFIGURED_CONSUMERS}) and w.id <> target.id
             and (target.whole or ${isGrantedWorkspace(actor, 'w')})`,
});

/** The number of all workspaces of an organization is stored, so pages do not count them again. */
const selectTotal = ({ granted, configured }: ReturnType<typeof buildExtents>): Sql => sql`
  case when not target."isGlobal" then (select count(*) from workspaces w where ${configured})
       when target.whole then (select coalesce(sum(c.workspaces), 0)::bigint - 1 from workspace_counts c
                                where c.organization = target.organization)
       else (select count(*) from workspaces w where ${granted}) end`;

/**
 * Returns the workspaces that may read the state of this one, by name; `configured` leaves out those that may because
 * it is shared with the whole organization or project. One page and the total count in one statement.
 */
export const listConsumers = async (
  database: Database,
  actor: Actor,
  workspace: string,
  page: PageRequest,
  configured: boolean,
): Promise<ListPage<WorkspaceRow>> => {
  const extents = buildExtents(actor);
  const parts = Object.values(extents).map(
    (extent) => sql`(select w.id from workspaces w where ${extent} order by w.name ${buildLimit(page)})`,
  );
  const scopes = sql`
    select w.id, w.organization, w.project, o.whole, ${selectWorkspaceGrants(actor, 'w')} as grants,
           not ${configured} and (w.settings ->> 'globalRemoteState')::boolean as "isGlobal",
           not ${configured} and (w.settings ->> 'projectRemoteState')::boolean as "isProject"
      from workspaces w
      join (select id, ${isPermittedByRole(actor, 'read-workspace')} as whole from organizations) o
        on o.id = w.organization
     where w.id = ${workspace} and ${requireCurrentAccess(actor)}`;
  const rows = await database.slowRows<
    ListRow<WorkspaceRow, { total: number; owner: string; ownerGrants: readonly Grant[] }>
  >(
    actor,
    sql`
    select target.organization as owner, target.grants as "ownerGrants", target.total, page.*
      from (select target.*, ${selectTotal(extents)} as total
              from ${selectPermittedScopes(actor, 'read-workspace', scopes)} target
            -- Once, and not for each row of the page.
            offset 0) target
      left join lateral (
        select ${selectWorkspaceColumns(actor)}
          from (${sql.join(parts, ' union all ')}) listed join workspaces w on w.id = listed.id
          join organizations o on o.id = w.organization join projects p on p.id = w.project) page on true
     order by page.name`,
  );
  return toPermittedPage(actor, 'read-workspace', rows);
};

/** A workspace of the same organization that a request references. */
type Consumer = PermissionScope & { readonly id: string; readonly version: number };

/** The facts for a decision besides the state of the stream. */
export type ConsumersForCommand = PermissionScope & {
  readonly id: string;
  readonly organization: string;
  readonly organizationVersion: number;
  readonly snapshot: StreamSnapshot;
  readonly consumers: readonly Consumer[];
  /** The present consumers among those of the request, or all of them. */
  readonly present: readonly string[];
};

export const loadConsumersForCommand = async (
  database: Database,
  actor: Actor,
  workspace: string,
  { requested, all }: { readonly requested: readonly string[]; readonly all: boolean },
): Promise<ConsumersForCommand> => {
  const row = await database.row<ConsumersForCommand>(sql`
    select w.id, w.organization, so.version as "organizationVersion", ${selectWorkspaceGrants(actor, 'w')} as grants,
           ${buildSnapshotJson('s')} as snapshot,
           coalesce((select jsonb_agg(jsonb_build_object('id', named.id, 'organization', named.organization,
                                                         'version', sn.version,
                                                         'grants', ${selectWorkspaceGrants(actor, 'named')}))
                       from workspaces named join event_store.streams sn on sn.stream = named.id
                      where named.organization = w.organization and named.id = any (${requested}::text[])), '[]') as consumers,
           array(select c.consumer from remote_state_consumers c
                  where c.workspace = w.id and (${all} or c.consumer = any (${requested}::text[]))
                  order by c.consumer) as present
      from workspaces w join event_store.streams s on s.stream = w.id
      join event_store.streams so on so.stream = w.organization
     where w.id = ${workspace} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  return row;
};
