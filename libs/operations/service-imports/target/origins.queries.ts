import { sql } from '#platform/kernel';
import { EVENT_CONTEXT } from '#storage/event-store';
import type { Database } from '#platform/postgres';

const ORIGIN = sql`(${EVENT_CONTEXT}) -> 'origin'`;

/**
 * Returns the ids of everything that was imported from this address into the organization, by id at the source. Also of what
 * has been deleted or renamed here since.
 */
export const loadCopies = async (
  database: Database,
  { organization, from }: { readonly organization: string; readonly from: string },
): Promise<Map<string, string>> => {
  const rows = await database.rows<{ stream: string; id: string }>(sql`
    select e.stream, ${ORIGIN} ->> 'id' as id from event_store.events e
     where e.organization = ${organization} and e.version = 1 and ${ORIGIN} ->> 'from' = ${from}`);
  return new Map(rows.map(({ stream, id }) => [id, stream]));
};

/** Returns whether the project has a workspace that no import has created. */
export const hasOwnWorkspaces = async (database: Database, project: string): Promise<boolean> => {
  const row = await database.row<{ hasWorkspaces: boolean }>(sql`
    select exists (
      select from workspaces w join event_store.events e on e.stream = w.id and e.version = 1
       where w.project = ${project} and ${ORIGIN} is null) as "hasWorkspaces"`);
  return row?.hasWorkspaces ?? false;
};

/** A state version that was imported: its id here, and the MD5 that the site compared with the bytes that it stored. */
export type ImportedState = { readonly id: string; readonly md5: string };

/** What the log says about an imported workspace. */
export type ImportedWorkspaceState = {
  /** By id at the source. */
  readonly states: ReadonlyMap<string, ImportedState>;
  /** Whether it has the lock of the import. Only then nobody uses it yet, and the import may change it. */
  readonly isWithImport: boolean;
  /** Whether it never had a lock: an import that was interrupted had just created it. */
  readonly isNew: boolean;
  /** Whether the import has given its lock this reason, which is its last step. */
  readonly isComplete: boolean;
  /** Whether it has states that were created here. */
  readonly hasOwnStates: boolean;
};

type ImportedEventRow = {
  readonly type: string;
  readonly origin: string | null;
  readonly id: string | null;
  readonly md5: string | null;
  readonly reason: string | null;
};

/** The log is the journal of an import: it finds again what an interrupted one has done. */
export const loadImportedWorkspace = async (
  database: Database,
  workspace: string,
  completeReason: string,
): Promise<ImportedWorkspaceState> => {
  const rows = await database.rows<ImportedEventRow>(sql`
    select e.type, ${ORIGIN} ->> 'id' as origin, e.data ->> 'id' as id, e.data ->> 'md5' as md5, e.data ->> 'reason' as reason
      from event_store.events e
     where e.stream = ${workspace}
       and e.type in ('StateVersionCreated', 'WorkspaceLocked', 'WorkspaceUnlocked', 'WorkspaceLockExpired')
     order by e.version`);
  const locks = rows.filter(({ type }) => type !== 'StateVersionCreated');
  const isOwn = ({ type, origin }: ImportedEventRow): boolean => type === 'WorkspaceLocked' && origin !== null;
  return {
    states: new Map(
      rows.flatMap(({ type, origin, id, md5 }) =>
        type === 'StateVersionCreated' && origin !== null && id !== null && md5 !== null ? [[origin, { id, md5 }]] : [],
      ),
    ),
    hasOwnStates: rows.some(({ type, origin }) => type === 'StateVersionCreated' && origin === null),
    isNew: locks.length === 0,
    isWithImport: locks.slice(-1).some(isOwn),
    isComplete: locks.some((row) => isOwn(row) && row.reason === completeReason),
  };
};
