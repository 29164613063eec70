import { sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';

/** Connections of processes of Cadastre with the same name and address. */
type SiteProcess = {
  /** `serve`, `gateway`, `projector`, `publisher` or a command. */
  readonly name: string;
  /** Null for a connection by a socket of the same machine. */
  readonly address: string | null;
  readonly connections: number;
  readonly since: string;
};

type DatabaseFacts = {
  readonly postgresVersion: string;
  readonly databaseBytes: number;
  /** Estimated by Postgres, because counting a long log takes minutes. */
  readonly events: number;
};

/** Returns the size of the database. */
export const readDatabaseFacts = async (database: Database): Promise<DatabaseFacts> => {
  const row = await database.row<DatabaseFacts>(sql`
    select current_setting('server_version') as "postgresVersion",
           pg_database_size(current_database()) as "databaseBytes",
           pg_stat_get_live_tuples('event_store.events'::regclass) as events`);
  if (!row) throw new Error('the database returned no facts about itself');
  return row;
};

/** Returns the processes with a connection to the database, by name and address. */
export const listProcesses = (database: Database): Promise<SiteProcess[]> =>
  database.rows<SiteProcess>(sql`
    select split_part(split_part(application_name, ',', 1), ' ', 2) as name, host(client_addr) as address,
           count(*)::integer as connections, min(backend_start) as since
      from pg_stat_activity
     where datname = current_database() and application_name like 'cadastre %'
     group by 1, 2 order by 1, 2`);
