import { notFound, sql, type VisiblePrincipal, type Sql, type Timestamp, type SubjectData } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { requirePermission, type Actor } from '#api/access';
import {
  toListPage,
  buildLimitWithSize,
  buildFittingPageSize,
  type ListPage,
  type ListRow,
  type PageRequest,
} from '#api/json-api';
import { isHiddenTeam, selectVisiblePrincipal } from '#identity/people';
import { MAX_ACTOR_NAME_LENGTH } from '../writing/history.follower.js';
import { selectWorkspaceScope, type WorkspaceScope } from './workspace-scope.queries.js';
import { changedAny, changedBesides, selectCompleteData } from '../writing/versions.queries.js';

export type WorkspaceChangeRow = {
  readonly id: string;
  readonly event: string;
  /** Version of the event in its stream. */
  readonly version: number;
  readonly createdAt: Timestamp;
  readonly request: string | null;
  readonly actor: VisiblePrincipal;
  /** Codes of the changed fields; `?` in a row of the earlier version, which has their names. */
  readonly fields: string;
  readonly changed: readonly string[] | null;
  readonly before: SubjectData | null;
  /** Null if the event deleted the workspace. */
  readonly after: SubjectData | null;
};

/** A workspace, also a deleted one, and its organization. */
type HistoryOwner = { readonly workspace: string; readonly organization: string };

type ChangeFilter = {
  /** Names of fields in the API, of which any must have changed. Empty: no filter. */
  readonly fields: readonly string[];
  /** Ids or names of actors, of which any must match. Empty: no filter. */
  readonly actors: readonly string[];
};

/** Returns the scope of the workspace. Throws a refusal if the caller cannot read its history. */
export const findWorkspaceScope = async (
  database: Database,
  actor: Actor,
  workspace: string,
): Promise<WorkspaceScope> => {
  const scope = await database.row<WorkspaceScope>(selectWorkspaceScope(actor, workspace));
  if (!scope) throw notFound();
  requirePermission(actor, 'read-workspace-history', scope);
  return scope;
};

/** Returns the actor of the row `h` of versions as jsonb. */
export const selectActor = (h: string): Sql =>
  sql.raw(`jsonb_build_object('type', ${h}.actor_type, 'id', ${h}.actor_id, 'name', ${h}.actor_name)`);

/**
 * Condition: one of the actors made the change. Names are compared up to the length in the index. The name of a team
 * that the caller cannot see matches nothing, so that callers cannot guess it.
 */
const isBy = (actor: Actor, organization: string, actors: readonly string[]): Sql => sql`
  array[actor_id, actor_name] && array(select left(named, ${MAX_ACTOR_NAME_LENGTH}) from unnest(${actors}::text[]) as named)
  and (actor_id = any (${actors}::text[]) or not ${isHiddenTeam(actor, selectActor('v'), sql`${organization}::text`)})`;

/** Conditions on the version `v`. Both filters use its index, so Postgres reads only rows that are returned. */
const buildConditions = (
  actor: Actor,
  { workspace, organization }: HistoryOwner,
  { fields, actors }: ChangeFilter,
  hidden: readonly string[],
): Sql => {
  const visible = fields.filter((field) => !hidden.includes(field));
  return sql.and([
    sql`v.subject = ${workspace}`,
    ...(fields.length > 0 ? [changedAny('v', visible)] : []),
    ...(actors.length > 0 ? [isBy(actor, organization, actors)] : []),
    // Omits changes of which the caller may see no field. A deletion changes no field and is kept.
    ...(hidden.length > 0 ? [changedBesides('v', hidden)] : []),
  ]);
};

/** A page of changes. It has fewer items than requested if their values are large. */
type ListedChanges = ListPage<WorkspaceChangeRow> & { readonly pageSize: number };

/** Bytes of a row besides its base versions: difference from them (subject-versions.ts), ids, names, links. */
const ROW_OVERHEAD_BYTES = 4_096;

/**
 * Returns the page size as an SQL expression. A change can contain complete values from before and after, so each
 * counts as twice the largest data that the workspace ever had. The size does not depend on filters, because clients
 * count pages.
 */
const selectSize = (workspace: string, page: PageRequest): Sql =>
  buildFittingPageSize(
    page,
    sql`select ${ROW_OVERHEAD_BYTES}::bigint + 2 * largest.bytes
          from (select octet_length(data::text) as bytes from history_versions
                 where subject = ${workspace} and frame = ordinal and data is not null
                 order by octet_length(data::text) desc limit 1) largest, generate_series(1, ${page.size}::bigint)`,
  );

/** Selects the previous version of the version `h`. */
const FORMER_VERSION = sql`
  select subject, since, ordinal, fields, data from history_versions earlier
   where earlier.subject = h.subject and (earlier.since, earlier.ordinal) < (h.since, h.ordinal)
   order by earlier.since desc, earlier.ordinal desc limit 1`;

/** Selects the complete data of the version `alias`. The name of a team that the caller may not see is null. */
const selectVisibleData = (actor: Actor, alias: string, organization: string): Sql => sql`(
  select case when ${isHiddenTeam(actor, sql.raw(`(complete.data -> 'lock' -> 'holder')`), sql`${organization}::text`)}
              then jsonb_set(complete.data, '{lock,holder,name}', 'null') else complete.data end
    from (select ${selectCompleteData(alias)} as data offset 0) complete)`;

/**
 * Returns changes, newest first, without those of only `hidden` fields. Each row contains the data before and after.
 * The log has the type and version of the event and the id of the request.
 */
export const listChanges = async (
  database: Database,
  actor: Actor,
  owner: HistoryOwner,
  page: PageRequest,
  filter: ChangeFilter,
  hidden: readonly string[],
): Promise<ListedChanges> => {
  const { workspace, organization } = owner;
  const where = buildConditions(actor, owner, filter, hidden);
  const rows = await database.slowRows<ListRow<WorkspaceChangeRow, { total: number; pageSize: number }>>(
    actor,
    sql`
    select counted.*, h.event as id, coalesce(h.type, e.type) as event, coalesce(h.version, e.version) as version,
           h.since as "createdAt", coalesce(h.request, e.request::text, e.context -> 'request' ->> 'id') as request,
           ${selectVisiblePrincipal(actor, selectActor('h'), sql`${organization}::text`)} as actor, h.fields, h.changed,
           ${selectVisibleData(actor, 'h', organization)} as after,
           ${selectVisibleData(actor, 'former', organization)} as before
      from (select count(*) as total, ${selectSize(workspace, page)} as "pageSize" from history_versions v where ${where}) counted
      left join lateral (select v.since, v.ordinal from history_versions v where ${where}
                          order by v.since desc, v.ordinal desc ${buildLimitWithSize(page, sql`counted."pageSize"`)}) shown on true
      left join history_versions h on h.subject = ${workspace} and h.since = shown.since and h.ordinal = shown.ordinal
      left join event_store.events e on e.id = h.event
      left join lateral (${FORMER_VERSION}) former on true
     order by h.since desc, h.ordinal desc`,
  );
  const [first] = rows;
  return { ...toListPage(rows), pageSize: first?.pageSize ?? page.size };
};
