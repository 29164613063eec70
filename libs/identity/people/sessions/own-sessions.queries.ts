import { sql } from '#platform/kernel';
import { requireCurrentAccess, type Actor } from '#api/access';
import type { Database } from '#platform/postgres';
import { SESSION, type SessionRow } from './sessions.view.js';

/** Returns the caller's own sessions, newest first. A person has at most MAX_SESSIONS. */
export const listOwnSessions = (database: Database, actor: Actor): Promise<SessionRow[]> =>
  database.rows<SessionRow>(sql`
    select ${SESSION} from sessions session where session.user_id = ${actor.id} and ${requireCurrentAccess(actor)}
     order by session.created_at desc, session.id`);

/** Returns the names of organizations that the caller's sign-in does not open, because they demand another one. */
export const listClosedOrganizations = async (database: Database, actor: Actor): Promise<readonly string[]> => {
  const closed = [...actor.closedTo].flatMap(([id, reason]) => (reason === 'credential' ? [id] : []));
  if (closed.length === 0) return [];
  const rows = await database.rows<{ name: string }>(
    sql`select name from organizations where id = any (${closed}::text[]) order by name`,
  );
  return rows.map(({ name }) => name);
};
