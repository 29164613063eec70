import { sql, type Sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import {
  isGrantedWorkspace,
  isPermittedByRole,
  requireCurrentAccess,
  selectPermittedScopes,
  selectWorkspaceGrants,
  toPermittedPage,
  type Actor,
  type Grant,
} from '#api/access';
import { buildLimit, type ListPage, type ListRow, type PageRequest } from '#api/json-api';
import { selectWorkspaceColumns, type WorkspaceRow } from '../workspaces/workspaces.queries.js';

/** A state that is shared with the project ignores the names, as in `isShared` of the permissions of runs. */
const NAMES_READER = sql.raw(`not (w.settings ->> 'projectRemoteState')::boolean and w.id in (
  select c.workspace from remote_state_consumers c where c.consumer = reader.id)`);

const SHARES_WITH_READER = sql.raw(`(
  (w.settings ->> 'globalRemoteState')::boolean
  or (w.settings ->> 'projectRemoteState')::boolean and w.project = reader.project)`);

/** In SQL: `w`, and `reader`. */
const isSource = (actor: Actor, configured: boolean): Sql => sql`
  w.organization = reader.organization and w.id <> reader.id
  and (${NAMES_READER}${configured ? sql.raw('') : sql` or ${SHARES_WITH_READER}`})
  and (reader.whole or ${isGrantedWorkspace(actor, 'w')})`;

/**
 * Returns the workspaces whose state the runs of this one may read, by name; `configured` leaves out those that share
 * it with the whole organization or project. One page and the total count in one statement. Without `configured`, the
 * statement reads all workspaces of the organization: an index by these settings would slow down every change of a setting.
 */
export const listSources = async (
  database: Database,
  actor: Actor,
  workspace: string,
  page: PageRequest,
  configured: boolean,
): Promise<ListPage<WorkspaceRow>> => {
  const scopes = sql`
    select r.id, r.organization, r.project, o.whole, ${selectWorkspaceGrants(actor, 'r')} as grants
      from workspaces r
      join (select id, ${isPermittedByRole(actor, 'read-workspace')} as whole from organizations) o
        on o.id = r.organization
     where r.id = ${workspace} and ${requireCurrentAccess(actor)}`;
  const rows = await database.slowRows<
    ListRow<WorkspaceRow, { total: number; owner: string; ownerGrants: readonly Grant[] }>
  >(
    actor,
    sql`
    select reader.organization as owner, reader.grants as "ownerGrants", cardinality(sources.ids) as total, page.*
      from ${selectPermittedScopes(actor, 'read-workspace', scopes)} reader
     cross join lateral (
        select coalesce(array_agg(w.id order by w.name), '{}') as ids
          from workspaces w where ${isSource(actor, configured)}) sources
      left join lateral (
        select ${selectWorkspaceColumns(actor)}
          from (select id from unnest(sources.ids) with ordinality source (id, rank)
                 order by rank ${buildLimit(page)}) listed
          join workspaces w on w.id = listed.id
          join organizations o on o.id = w.organization join projects p on p.id = w.project) page on true
     order by page.name`,
  );
  return toPermittedPage(actor, 'read-workspace', rows);
};
