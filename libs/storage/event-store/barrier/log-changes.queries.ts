import { sql, type Sql } from '#platform/kernel';

/** An event that has become visible in the log, without its data. */
export type LogChange = {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  readonly organization: string | null;
  /** The workspace that the data names; null if the event belongs to the stream of a workspace or names none. */
  readonly workspace: string | null;
};

/** More changes than this are not listed. */
export const MAX_LOG_CHANGES = 1_000;

const FIELDS = sql.raw('id, type, stream, organization, data');

/**
 * Selects the changes that are visible now and were not visible in an earlier snapshot, as a jsonb array of `LogChange`;
 * empty if `snapshot` is null, and with more than MAX_LOG_CHANGES elements if there are more changes.
 *
 * These are the events of transactions that ran then, however early their position is, and of transactions that began
 * later. One transaction that runs for hours makes neither part longer.
 */
export const selectLogChanges = (snapshot: string | null): Sql => sql`
  (select coalesce(jsonb_agg(jsonb_build_object(
            'id', e.id, 'type', e.type, 'stream', e.stream, 'organization', e.organization,
            'workspace', case when e.stream not like 'ws-%' then e.data ->> 'workspace' end)), '[]')
     from (select ${FIELDS} from pg_snapshot_xip(${snapshot}::pg_snapshot) running
            cross join lateral (select * from event_store.events where transaction = running.running
                                 order by position limit ${MAX_LOG_CHANGES + 1}) late
           union all
           (select ${FIELDS} from event_store.events where transaction >= pg_snapshot_xmax(${snapshot}::pg_snapshot)
             order by transaction, position limit ${MAX_LOG_CHANGES + 1})) e)`;

/** Selects a text that each exchange of a rebuilt view changes; with `views` only those views. */
export const selectViewExchanges = (views: readonly string[] | null = null): Sql => sql`
  (select coalesce(sum(xmin::text::bigint), 0)::text from event_store.view_versions
    where ${views}::text[] is null or view = any (${views}::text[]))`;

/**
 * Selects a text that changes when views change without an event: while the names of forgotten people are removed it is
 * null, and each exchange of a rebuilt view changes it.
 */
export const selectViewsState = (): Sql => sql`
  (case when not exists (select from event_store.person_keys where key is null and cleaned_at is null)
        then ${selectViewExchanges()} end)`;
