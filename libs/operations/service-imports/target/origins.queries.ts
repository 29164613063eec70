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
  /** The MD5 of state versions, by their id at the source. The site compared it with the bytes that it stored. */
  readonly states: ReadonlyMap<string, string>;
  /** Whether the import has locked it once, which is its last step. */
  readonly wasLocked: boolean;
  /** Whether it has states that were created here. */
  readonly hasOwnStates: boolean;
};

/** The log is the journal of an import: it finds again what an interrupted one has done. */
export const loadImportedWorkspace = async (database: Database, workspace: string): Promise<ImportedWorkspaceState> => {
  const rows = await database.rows<{ type: string; origin: string | null; md5: string | null }>(sql`
    select e.type, ${ORIGIN} ->> 'id' as origin, e.data ->> 'md5' as md5 from event_store.events e
     where e.stream = ${workspace} and e.type in ('StateVersionCreated', 'WorkspaceLocked')`);
  return {
    states: new Map(rows.flatMap(({ origin, md5 }) => (origin !== null && md5 !== null ? [[origin, md5]] : []))),
    hasOwnStates: rows.some(({ type, origin }) => type === 'StateVersionCreated' && origin === null),
    wasLocked: rows.some(({ type }) => type === 'WorkspaceLocked'),
  };
};
