import { sql } from '#platform/kernel';
import { EVENT_CONTEXT } from '#storage/event-store';
import type { Database } from '#platform/postgres';

const ORIGIN = sql`(${EVENT_CONTEXT}) -> 'origin'`;

/** Where an imported resource comes from. */
type ResourceOrigin = { readonly from: string; readonly id: string };

/** Returns where a resource was imported from; null if it was created here. */
export const findOrigin = async (database: Database, stream: string): Promise<ResourceOrigin | null> => {
  const row = await database.row<{ from: string | null; id: string | null }>(sql`
    select ${ORIGIN} ->> 'from' as "from", ${ORIGIN} ->> 'id' as id
      from event_store.events e where e.stream = ${stream} and e.version = 1`);
  return row?.from && row.id ? { from: row.from, id: row.id } : null;
};

/** What the log says about an imported workspace. */
export type ImportedWorkspaceState = {
  /** The ids of state versions at the source. */
  readonly states: ReadonlySet<string>;
  /** Whether the import has locked it once, which is its last step. */
  readonly wasLocked: boolean;
};

/** The log is the journal of an import: it finds again what an interrupted one has done. */
export const loadImportedWorkspace = async (database: Database, workspace: string): Promise<ImportedWorkspaceState> => {
  const rows = await database.rows<{ type: string; origin: string | null }>(sql`
    select e.type, ${ORIGIN} ->> 'id' as origin from event_store.events e
     where e.stream = ${workspace} and e.type in ('StateVersionCreated', 'WorkspaceLocked')`);
  return {
    states: new Set(rows.flatMap(({ type, origin }) => (type === 'StateVersionCreated' && origin ? [origin] : []))),
    wasLocked: rows.some(({ type }) => type === 'WorkspaceLocked'),
  };
};
