import { notFound, sql, type Sql } from '#platform/kernel';
import { EVENT_CONTEXT, type IdempotentWrite } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import { hasOrganizationName, requirePermission, requireCurrentAccess, type Actor } from '#api/access';

/** An organization and the version at which it was read. */
export type FactsOrganization = { readonly id: string; readonly name: string; readonly version: number };

const FROM = sql.raw('from organizations o join event_store.streams s on s.stream = o.id');

/** Returns the organization with this name. Throws a refusal if the caller cannot report facts to it. */
export const loadOrganizationForFacts = async (
  database: Database,
  actor: Actor,
  name: string,
): Promise<FactsOrganization> => {
  const row = await database.row<FactsOrganization>(
    sql`select o.id, o.name, s.version ${FROM} where ${hasOrganizationName('o', name)} and ${requireCurrentAccess(actor)}`,
  );
  if (!row) throw notFound();
  requirePermission(actor, 'report-facts', { organization: row.id });
  return row;
};

/** Returns organizations by the id or the name that messages use. */
export const findOrganizationsByNameOrId = async (
  database: Database,
  namesOrIds: readonly string[],
): Promise<ReadonlyMap<string, FactsOrganization>> => {
  const all = [...new Set(namesOrIds)];
  const find = (isOrganization: Sql) => sql`
    select wanted.text as "nameOrId", o.id, o.name, s.version
      from unnest(${all}::text[]) as wanted (text) join organizations o on ${isOrganization}
      join event_store.streams s on s.stream = o.id`;
  // Ids come last and so win, because an organization can have the id of another one as its name.
  const rows = await database.rows<FactsOrganization & { readonly nameOrId: string }>(sql`
    ${find(hasOrganizationName('o', sql`wanted.text`))} union all ${find(sql`o.id = wanted.text`)}`);
  return new Map(rows.map(({ nameOrId, ...organization }) => [nameOrId, organization]));
};

/** Returns those of the ids that the log contains. */
export const findRecordedIds = async (database: Database, ids: readonly string[]): Promise<ReadonlySet<string>> => {
  if (ids.length === 0) return new Set();
  const rows = await database.rows<{ readonly id: string }>(
    sql`select id from event_store.events where id = any (${ids}::uuid[])`,
  );
  return new Set(rows.map(({ id }) => id));
};

/** A repeated fact; `n` is its index in the batch. */
type RecordedFact = {
  readonly n: number;
  readonly event: IdempotentWrite['events'][number];
  readonly undated: boolean;
};

/**
 * Returns the indexes of facts that differ from the recorded fact with the same id. The reporter does not count as a
 * difference, nor do names of people, which may have been forgotten.
 */
export const findDifferingFacts = async (
  database: Database,
  repeated: readonly RecordedFact[],
): Promise<ReadonlySet<number>> => {
  if (repeated.length === 0) return new Set();
  const reported = repeated.map(({ n, event: { id, data, context }, undated }) => {
    const ignored = ['reportedBy', ...(undated ? ['occurredAt'] : [])];
    return { n, id, data, context, ignored };
  });
  const rows = await database.rows<{ readonly n: number }>(sql`
    select reported.n from event_store.events e
      join jsonb_to_recordset(${sql.json(reported)}) as reported (n integer, id uuid, data jsonb, context jsonb, ignored text[])
        on reported.id = e.id
     where e.data - ignored <> reported.data - ignored or (${EVENT_CONTEXT}) #- '{accessor,name}' <> reported.context #- '{accessor,name}'`);
  return new Set(rows.map(({ n }) => n));
};
