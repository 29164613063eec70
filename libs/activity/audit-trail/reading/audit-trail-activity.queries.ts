import { formatTimestamp, sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { requireCurrentAccess, type Actor } from '#api/access';
import { selectFirstOrdinal } from '../blocks/ordinals.queries.js';
import { selectKeptFrom } from '../settings/entry-retention.queries.js';
import { getSlowReadCaller } from './matching-entries.queries.js';
import type { TrailQuery } from './trail-query.filter.js';

type ActivityRow = { readonly isOpen: boolean; readonly ordinals: readonly number[] };

/**
 * Returns the numbers of entries between each two times; null if the organization has no audit trail. Ordinals have no
 * gaps and follow the order of time, so each number is the difference of two ordinals: the statement reads no entry,
 * and costs two lookups for each time, however long the trail is.
 */
export const countEntriesBetween = async (
  database: Database,
  actor: Actor,
  { organization, now }: Pick<TrailQuery, 'organization' | 'now'>,
  times: readonly number[],
): Promise<readonly number[] | null> => {
  const bounds = times.map((time) => formatTimestamp(time));
  const query = { organization, filter: { resourceId: [], resourceType: [], action: [], actor: [] } };
  const [row] = await database.slowRows<ActivityRow>(
    getSlowReadCaller(query),
    sql`
    select t.open as "isOpen", array(
             select greatest(kept.first, ${selectFirstOrdinal('>=', sql.raw('bound.time'))})::float8
               from (select ${selectFirstOrdinal('>=', selectKeptFrom(now))} as first offset 0) kept
               cross join unnest(${bounds}::timestamptz[]) with ordinality bound (time, place)
              order by bound.place) as ordinals
      from audit_trails t left join audit_trail_settings s on s.organization = t.organization
     where t.organization = ${organization} and ${requireCurrentAccess(actor)}`,
  );
  if (!row?.isOpen) return null;
  return row.ordinals.slice(1).map((end, index) => end - (row.ordinals[index] ?? end));
};
