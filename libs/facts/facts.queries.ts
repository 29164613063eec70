import { notFound, sql, type Sql } from '#kernel';
import type { Database } from '#event-store';
import { demand, fresh, type Actor } from '#access';
import type { FactsOrganization } from './facts.recorder.js';

const organizations = (condition: Sql): Sql => sql`
  select o.id, o.name, s.version from organizations o join event_store.streams s on s.stream = o.id where ${condition}`;

/** The organization of that name, where the caller may report facts to it. */
export const organizationForFacts = async (
  database: Database,
  actor: Actor,
  name: string,
): Promise<FactsOrganization> => {
  const row = await database.row<FactsOrganization>(organizations(sql`o.name = ${name} and ${fresh(actor)}`));
  if (!row) throw notFound();
  demand(actor, 'report-facts', { organization: row.id });
  return row;
};

/** Organizations by what a message calls them: their id, or else their name. */
export const organizationsCalled = async (
  database: Database,
  called: readonly string[],
): Promise<ReadonlyMap<string, FactsOrganization>> => {
  const all = [...new Set(called)];
  const rows = await database.rows<FactsOrganization & { readonly name: string }>(
    organizations(sql`o.id = any (${all}::text[]) or o.name = any (${all}::text[])`),
  );
  return new Map([
    ...rows.map((row) => [row.name, row] as const),
    // Last, and so first: an organization may be named like the id of another one.
    ...rows.map((row) => [row.id, row] as const),
  ]);
};
