import { notFound, sql, type Sql } from '#kernel';
import type { IdempotentWrite } from '#event-store';
import type { Database } from '#postgres';
import { requirePermission, requireCurrentAccess, type Actor } from '#access';

/** An organization, and the version that it was seen at. */
export type FactsOrganization = { readonly id: string; readonly version: number };

const selectFactsOrganizations = (condition: Sql): Sql => sql`
  select o.id, o.name, s.version from organizations o join event_store.streams s on s.stream = o.id where ${condition}`;

/** The organization of that name, where the caller may report facts to it. */
export const loadOrganizationForFacts = async (
  database: Database,
  actor: Actor,
  name: string,
): Promise<FactsOrganization> => {
  const row = await database.row<FactsOrganization>(
    selectFactsOrganizations(sql`o.name = ${name} and ${requireCurrentAccess(actor)}`),
  );
  if (!row) throw notFound();
  requirePermission(actor, 'report-facts', { organization: row.id });
  return row;
};

/** Organizations by what a message calls them: their id, or else their name. */
export const findOrganizationsByNameOrId = async (
  database: Database,
  called: readonly string[],
): Promise<ReadonlyMap<string, FactsOrganization>> => {
  const all = [...new Set(called)];
  const rows = await database.rows<FactsOrganization & { readonly name: string }>(
    selectFactsOrganizations(sql`o.id = any (${all}::text[]) or o.name = any (${all}::text[])`),
  );
  return new Map([
    ...rows.map((row) => [row.name, row] as const),
    // Last, and so first: an organization may be named like the id of another one.
    ...rows.map((row) => [row.id, row] as const),
  ]);
};

/** Returns the ids that the log has already. */
export const findRecordedIds = async (database: Database, ids: readonly string[]): Promise<ReadonlySet<string>> => {
  if (ids.length === 0) return new Set();
  const rows = await database.rows<{ readonly id: string }>(
    sql`select id from event_store.events where id = any (${ids}::uuid[])`,
  );
  return new Set(rows.map(({ id }) => id));
};

/** A fact whose name is in the log, as the `n`th of those that are asked about. */
type RecordedFact = {
  readonly n: number;
  readonly event: IdempotentWrite['events'][number];
  readonly undated: boolean;
};

/**
 * Which of them are not what was recorded under their name. Who hands a fact in is no part of it, nor what people are called,
 * which may have been forgotten.
 */
export const findDifferingFacts = async (
  database: Database,
  known: readonly RecordedFact[],
): Promise<ReadonlySet<number>> => {
  if (known.length === 0) return new Set();
  const told = known.map(({ n, event: { id, data, context }, undated }) => {
    const aside = ['reportedBy', ...(undated ? ['occurredAt'] : [])];
    return { n, id, data, context, aside };
  });
  const rows = await database.rows<{ readonly n: number }>(sql`
    select told.n from event_store.events e
      join jsonb_to_recordset(${sql.json(told)}) as told (n integer, id uuid, data jsonb, context jsonb, aside text[])
        on told.id = e.id
     where e.data - aside <> told.data - aside or e.context #- '{accessor,name}' <> told.context #- '{accessor,name}'`);
  return new Set(rows.map(({ n }) => n));
};
